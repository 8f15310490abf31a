/**
 * The stored configuration. Commits are serialised and atomic: validate, write, write the backup, raise the revision,
 * notify listeners. The backup holds the revision in force, not the previous one, so that a revoked key stays revoked
 * if the file is damaged. The file is read at start and not watched. If another program has changed it since, commits
 * are refused until a restart, so that neither change is lost.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join, parse } from 'node:path';
import { type Config, type ConfigInput, configSchema } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import { GatewayError } from '../contract/errors.ts';
import { defaultGroupId } from '../contract/operations.ts';
import { configVersion, describeRemovedFields } from '../contract/removed-features.ts';
import type { ReplacedConfig } from '../contract/status-views.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, readRegularFileSync } from '../ground/files/regular-file.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { type CheckedConfig, checkConfig, parseConfigJson, problemsOf, summarizeProblems } from './check-config.ts';
import { parseReusing } from './known-entries.ts';
import type { ConfigPersistence } from './persistence.ts';

export interface ConfigRevision {
  /** Deep-frozen. */
  readonly config: Config;
  /** Counts from 1 at each start, or from the first one in a database. */
  readonly revision: number;
}

/** A new configuration, or a function of the one in force when the commit runs. */
export type NextConfig = ConfigInput | ((current: Config) => ConfigInput);

export interface ConfigStore {
  readonly current: ConfigRevision;
  readonly readOnly: boolean;
  /** Whether nothing was stored when the store was opened. */
  readonly isFirstRun: boolean;
  /** Messages for the user from opening the store, one line each. */
  readonly notices: readonly string[];
  /** What the stored configuration still says of removed features, as it was read, one sentence for each field. */
  readonly removed: readonly string[];
  /** Set if the stored configuration could not be used and was replaced. */
  readonly replaced: ReplacedConfig | null;
  /**
   * Resolves once the new revision is stored and listeners are notified. Rejects with a GatewayError, with nothing
   * changed: `conflict` if `expectedRevision` is not in force or the file was changed by another program,
   * `invalid_command` if the schema refuses it, `internal` if it cannot be written, `read_only` if the configuration is
   * declarative.
   */
  commit(change: NextConfig, expectedRevision?: number): Promise<ConfigRevision>;
  /** Calls the listener for each new revision. Returns the unsubscribe function. */
  onChange(listener: (revision: ConfigRevision) => void): () => void;
}

/** Rejects with a GatewayError if the stored configuration cannot be read or has a newer version. */
export async function openConfigStore({ persistence }: { persistence: ConfigPersistence }): Promise<ConfigStore> {
  const stored = readStoredConfig(persistence);
  const inTurn = createSerialQueue();
  const listeners = new Set<(revision: ConfigRevision) => void>();
  const isFirstRun = stored.config === undefined && stored.notices.length === 0;
  const initial = stored.config ?? (isFirstRun ? firstRunConfig() : emptyConfig());
  let current: ConfigRevision = { config: deepFreeze(initial), revision: 1 };
  /** The file's content; undefined if there is none. */
  let storedValue = stored.value;
  if (stored.isRecovered) {
    // Written immediately, because only the backup has it.
    await writeConfig(persistence, current.config);
    storedValue = current.config;
  }
  /** The backup's content, if known. */
  let backedUp = stored.config && (await refreshBackup(persistence.path, current.config));

  const commit = async (change: NextConfig, expectedRevision: number) => {
    if (expectedRevision !== current.revision) throw revisionPassed();
    const next = typeof change === 'function' ? change(current.config) : change;
    const config = validateChange(next, current.config);
    if (!isAsStored(persistence, storedValue)) throw changedElsewhere(persistence.path);
    // A failed write is reverted from the backup.
    if (storedValue !== undefined && backedUp !== current.config) await writeBackup(persistence.path, current.config);
    backedUp = undefined;
    await writeOrRestore(persistence, config, storedValue);
    storedValue = config;
    backedUp = config;
    current = { config: deepFreeze(config), revision: current.revision + 1 };
    notifyListeners(listeners, current);
    return current;
  };

  return {
    get current() {
      return current;
    },
    readOnly: false,
    isFirstRun,
    notices: stored.notices,
    removed: stored.removed,
    replaced: stored.replaced,
    commit: (change, expectedRevision) => inTurn(() => commit(change, expectedRevision ?? current.revision)),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The error for an outdated `expectedRevision`. */
export function revisionPassed(): GatewayError {
  return controlError('conflict', { code: 'changed-meanwhile' });
}

function changedElsewhere(path: string): GatewayError {
  return controlError('conflict', { code: 'file-changed', path });
}

async function writeBackup(path: string, config: Config): Promise<void> {
  try {
    await writeFileDurably(backupPath(path), backupText(config));
  } catch (error) {
    throw notWritten(backupPath(path), error);
  }
}

async function writeConfig(persistence: ConfigPersistence, config: Config): Promise<void> {
  try {
    await persistence.write(config);
  } catch (error) {
    throw notWritten(persistence.path, error);
  }
}

/**
 * Updates an outdated backup, left if the process was killed between the two writes or if a person edited the file. If
 * it cannot be written, it stays outdated until the next commit. Returns the backup's content.
 */
async function refreshBackup(path: string, config: Config): Promise<Config | undefined> {
  const text = backupText(config);
  try {
    const stored = readRegularFileSync(backupPath(path));
    if (stored !== text) await writeBackup(path, config);
    return config;
  } catch {
    return undefined;
  }
}

const backupText = (config: Config) => `${JSON.stringify(config, null, '\t')}\n`;

/** @param storedValue the content of file and backup; undefined if there is no file */
async function writeOrRestore(persistence: ConfigPersistence, next: Config, storedValue: unknown): Promise<void> {
  try {
    await writeConfig(persistence, next);
    await writeBackup(persistence.path, next);
  } catch (error) {
    await restore(persistence, storedValue);
    throw error;
  }
}

/** After a failed write: renames the backup to the file, which works even on a full disk. */
async function restore(persistence: ConfigPersistence, storedValue: unknown): Promise<void> {
  const { path } = persistence;
  try {
    if (storedValue === undefined) rmSync(path, { force: true });
    else if (!isAsStored(persistence, storedValue)) renameSync(backupPath(path), path);
  } catch {
    // The backup stays, and the next start uses it if the file is damaged.
  }
  if (storedValue === undefined || isAsStored(persistence, storedValue)) return;
  // The rename did not restore the stored content.
  await writeFileDurably(path, `${JSON.stringify(storedValue, null, '\t')}\n`).catch(() => {});
}

/** A removed file counts as unchanged, because writing it again loses nothing. */
function isAsStored(persistence: ConfigPersistence, storedValue: unknown): boolean {
  try {
    const value = persistence.read();
    return value === undefined || JSON.stringify(value) === JSON.stringify(storedValue);
  } catch {
    return false;
  }
}

function notWritten(path: string, error: unknown): GatewayError {
  return controlError('internal', { code: 'not-written', path, reason: describeFileProblem(error) });
}

// Reads the stored configuration. A damaged file is moved aside, never deleted, and the backup replaces it.

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
function backupPath(configPath: string): string {
  return siblingPath(configPath, 'backup');
}

/** Throws a GatewayError and leaves the file unchanged if it cannot be read or has a newer version. */
function readStoredConfig(persistence: ConfigPersistence): StoredConfig {
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

// The frozen configuration, its revisions, and the first one of all.

/**
 * `current`: the configuration before the change. Throws a GatewayError `invalid_command` if the schema refuses the new
 * one.
 */
export function validateChange(next: ConfigInput, current: Config): Config {
  const config = parseReusing(next, current);
  if (config) return config;
  const result = configSchema.safeParse(next);
  if (result.success) return result.data;
  throw new GatewayError('invalid_command', `The change is refused: ${summarizeProblems(problemsOf(result.error))}.`);
}

/** The commit has succeeded, so a failing listener must not make it look failed. */
export function notifyListeners<T>(listeners: Iterable<(revision: T) => void>, revision: T): void {
  for (const listener of [...listeners]) {
    try {
      listener(revision);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : 'a configuration listener failed');
    }
  }
}

/** Freezes a tree of plain objects and arrays and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

/** The configuration of a new data folder, whose person has yet to be shown round and asked. */
export function firstRunConfig(): Config {
  const config = emptyConfig();
  const { settings } = config;
  return { ...config, settings: { ...settings, guide: 'open', capture: { ...settings.capture, recent: 'unasked' } } };
}

/** One group that may use every model of every provider: what is left of a configuration that was lost. */
export function emptyConfig(): Config {
  return configSchema.parse({
    version: configVersion,
    groups: [{ id: defaultGroupId, models: ['*'], providers: ['*'] }],
  });
}
