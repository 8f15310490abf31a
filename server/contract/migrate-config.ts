/** Configurations that were written for earlier versions of the format. */
import { withoutRemovedFields } from './removed-features.ts';

/** The current version of the format; older files are migrated when read. */
export const configVersion = 2;

type Stored = Record<string, unknown>;

/** Converts a stored configuration to the next version; `migrateConfig` sets `version` itself. */
type Migration = (stored: Stored) => Stored;

/** Migrations by the version from which they start. A change of the format adds one and raises `configVersion`. */
export const configMigrations: Readonly<Record<number, Migration>> = {
  // Version 2 has fewer fields. They are dropped at every version, since a person may have written the number alone.
  1: (stored) => stored,
};

type MigrationResult = { kind: 'ready'; value: unknown } | { kind: 'too-new'; version: number };

/**
 * Migrates a stored value to the current version, without the fields of removed features. A value without a known
 * version keeps what it says; the schema refuses it.
 */
export function migrateConfig(
  value: unknown,
  steps = configMigrations,
  newest: number = configVersion,
): MigrationResult {
  const version = versionOf(value);
  if (version === undefined) return { kind: 'ready', value };
  if (version > newest) return { kind: 'too-new', version };
  let stored = value as Stored;
  for (let from = version; from < newest; from++) {
    const step = steps[from];
    if (!step) break;
    stored = { ...step(stored), version: from + 1 };
  }
  return { kind: 'ready', value: withoutRemovedFields(stored).value };
}

function versionOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('version' in value)) return undefined;
  return Number.isInteger(value.version) ? (value.version as number) : undefined;
}
