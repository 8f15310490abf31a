/** Reads the stored configuration. A damaged file is moved aside, never deleted, and the backup replaces it. */
import { existsSync, renameSync } from 'node:fs';
import { join, parse } from 'node:path';
import type { Config } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { describeRemovedFields } from '../contract/removed-features.ts';
import type { ReplacedConfig } from '../contract/status-views.ts';
import { describeFileProblem, readRegularFileSync } from '../ground/files/regular-file.ts';
import { type CheckedConfig, checkConfig, parseConfigJson, summarizeProblems } from './check-config.ts';
import type { ConfigPersistence } from './persistence.ts';

interface StoredConfig {
  /** Undefined if there is no usable configuration. */
  config: Config | undefined;
  /** The file's content; undefined if it does not exist or was moved aside. */
  value: unknown;
  /** Whether `config` is from the backup and must be written to the file. */
  isRecovered: boolean;
  replaced: ReplacedConfig | null;
  notices: string[];
  /** As in `ConfigStore`. */
  removed: string[];
}

const nothingStored: StoredConfig = {
  config: undefined,
  value: undefined,
  isRecovered: false,
  replaced: null,
  notices: [],
  removed: [],
};

/** The backup's path. */
export function backupPath(configPath: string): string {
  return siblingPath(configPath, 'backup');
}

/** Throws a GatewayError and leaves the file unchanged if it cannot be read or has a newer version. */
export function readStoredConfig(persistence: ConfigPersistence): StoredConfig {
  const { path } = persistence;
  let value: unknown;
  const checked = checkStored(path, () => {
    value = persistence.read();
    return value;
  });
  if (checked?.kind === 'good')
    return { ...nothingStored, config: checked.config, value, removed: describeRemovedFields(value, path) };
  if (checked === undefined && !existsSync(backupPath(path))) return nothingStored;
  const backup = readBackup(path);
  return checked === undefined ? whenMissing(path, backup) : whenBroken(path, checked.problems, backup);
}

/** Undefined if there is no file. Throws for the kind `too-new`. */
function checkStored(path: string, read: () => unknown): Exclude<CheckedConfig, { kind: 'too-new' }> | undefined {
  let value: unknown;
  try {
    value = read();
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'bad', problems: [describeFileProblem(error)] };
    throw new GatewayError('internal', `The configuration ${path} cannot be read: ${describeFileProblem(error)}.`);
  }
  if (value === undefined) return undefined;
  const checked = checkConfig(value);
  if (checked.kind !== 'too-new') return checked;
  throw new GatewayError(
    'internal',
    `The configuration ${path} cannot be used: ${checked.message}. It was left as it is. Update Sluice, or use another data folder.`,
  );
}

interface Backup {
  config: Config;
  removed: string[];
}

function readBackup(path: string): Backup | undefined {
  const backup = backupPath(path);
  if (!existsSync(backup)) return undefined;
  let value: unknown;
  const checked = checkStored(backup, () => {
    value = parseConfigJson(readRegularFileSync(backup));
    return value;
  });
  if (checked?.kind !== 'good') return undefined;
  return { config: checked.config, removed: describeRemovedFields(value, backup) };
}

function whenMissing(path: string, backup: Backup | undefined): StoredConfig {
  const notice = backup
    ? `${path} was missing; the configuration was taken from ${backupPath(path)}. To start anew, remove both.`
    : `${path} is missing and its backup ${backupPath(path)} cannot be used; Sluice starts with an empty configuration.`;
  return recovered(backup, null, notice);
}

function whenBroken(path: string, problems: string[], backup: Backup | undefined): StoredConfig {
  const aside = setAside(path);
  const consequence = backup
    ? `the last good configuration was taken from ${backupPath(path)}`
    : 'there is no good backup, so Sluice starts with an empty configuration';
  const notice = `The configuration was broken (${summarizeProblems(problems)}) and was set aside as ${aside}; ${consequence}. To use it, stop Sluice, correct it and move it back to ${path}.`;
  return recovered(backup, aside, notice);
}

function recovered(backup: Backup | undefined, movedTo: string | null, notice: string): StoredConfig {
  const isRecovered = backup !== undefined;
  const replaced: ReplacedConfig = { by: isRecovered ? 'backup' : 'nothing', movedTo };
  const { config, removed = [] } = backup ?? {};
  return { ...nothingStored, config, isRecovered, replaced, notices: [notice], removed };
}

function setAside(path: string): string {
  const aside = siblingPath(path, `broken-${new Date().toISOString().replace(/[:.]/g, '-')}`);
  try {
    renameSync(path, aside);
  } catch (error) {
    throw new GatewayError(
      'internal',
      `The configuration ${path} is broken and cannot be set aside: ${describeFileProblem(error)}.`,
    );
  }
  return aside;
}

/** `config.json` → `config.<mark>.json` */
function siblingPath(path: string, suffix: string): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}.${suffix}${ext}`);
}
