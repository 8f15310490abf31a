import { configVersion } from '../contract/config.ts';

type Stored = Record<string, unknown>;

/** Turns a stored configuration of one version into the next; `version` itself is set by `migrate`. */
type Migration = (stored: Stored) => Stored;

/** By the version they start from. A change of shape adds one here and raises configVersion. */
export const migrations: Readonly<Record<number, Migration>> = {};

type MigrationResult = { kind: 'ready'; value: unknown } | { kind: 'too-new'; version: number };

/**
 * Brings a stored value to the newest version. Pure. What is no configuration at all, or has no version that can be
 * migrated, passes as it is: the schema is what says what is wrong with it.
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
