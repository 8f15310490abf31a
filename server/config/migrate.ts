import { configVersion } from '../contract/config.ts';

type Stored = Record<string, unknown>;

/** Converts a stored configuration to the next version; `migrate` sets `version` itself. */
type Migration = (stored: Stored) => Stored;

/** Migrations by the version from which they start. A change of the format adds one and raises `configVersion`. */
export const migrations: Readonly<Record<number, Migration>> = {};

type MigrationResult = { kind: 'ready'; value: unknown } | { kind: 'too-new'; version: number };

/**
 * Migrates a stored value to the current version. A value without a known version is returned unchanged; the schema
 * refuses it.
 */
export function migrate(value: unknown, steps = migrations, newest: number = configVersion): MigrationResult {
  const version = versionOf(value);
  if (version === undefined) return { kind: 'ready', value };
  if (version > newest) return { kind: 'too-new', version };
  let stored = value as Stored;
  for (let from = version; from < newest; from++) {
    const step = steps[from];
    if (!step) break;
    stored = { ...step(stored), version: from + 1 };
  }
  return { kind: 'ready', value: stored };
}

function versionOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('version' in value)) return undefined;
  return Number.isInteger(value.version) ? (value.version as number) : undefined;
}
