/**
 * Owns the configuration: what it is now, and that it is stored. It knows nothing of what commands do to it, of secrets'
 * values, or of who listens. One at a time and all or nothing: validate, write, write the backup, then raise the revision
 * and tell. The backup holds the revision in force, not the one before it: what was revoked or narrowed stays so when the
 * file is damaged. The file is read at start and not watched; if something else has changed it since, a commit is refused
 * until the program is started again, so that neither change is lost.
 */
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { type Config, type ConfigInput, configSchema } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import { GatewayError } from '../contract/errors.ts';
import type { ReplacedConfig } from '../contract/status-views.ts';
import { writeFileDurably } from '../files/durable-file.ts';
import { describeFileProblem } from '../files/file-problem.ts';
import { createSerialQueue } from '../serial-queue.ts';
import { problemsOf, summarizeProblems } from './check-config.ts';
import { deepFreeze } from './deep-freeze.ts';
import { firstRunConfig } from './first-run.ts';
import type { ConfigPersistence } from './persistence.ts';
import { backupPath, readStoredConfig } from './stored-config.ts';

export interface ConfigRevision {
  /** Deep-frozen. */
  readonly config: Config;
  /** Counts from 1 at each start of the program. */
  readonly revision: number;
}

/** A whole new configuration, or what makes it of the one in force when its turn comes. */
type NextConfig = ConfigInput | ((current: Config) => ConfigInput);

export interface ConfigStore {
  readonly current: ConfigRevision;
  readonly readOnly: boolean;
  /** Nothing was stored when it was opened. */
  readonly isFirstRun: boolean;
  /** What a person should be told about the opening, a line each. */
  readonly notices: readonly string[];
  /** What was stored could not be used at the opening, and this took its place; null: it could. */
  readonly replaced: ReplacedConfig | null;
  /**
   * Resolves once the new revision is stored and told. Rejects with a GatewayError, and changes nothing: `conflict` if
   * `expectedRevision` is no longer in force or the file was changed by something else, `invalid_command` if the schema refuses it, `internal` if it cannot be
   * written, `read_only` if the configuration comes from a file that the program must not write.
   */
  commit(change: NextConfig, expectedRevision?: number): Promise<ConfigRevision>;
  /** Calls back once for each new revision; returns how to stop that. */
  onChange(listener: (revision: ConfigRevision) => void): () => void;
}

/** Rejects with a GatewayError if the stored configuration cannot be read or is of a newer version. */
export async function openConfigStore({ persistence }: { persistence: ConfigPersistence }): Promise<ConfigStore> {
  const stored = readStoredConfig(persistence);
  const inTurn = createSerialQueue();
  const listeners = new Set<(revision: ConfigRevision) => void>();
  let current: ConfigRevision = { config: deepFreeze(stored.config ?? firstRunConfig()), revision: 1 };
  /** What the file holds; undefined as long as there is none. */
  let storedValue = stored.value;
  if (stored.isRecovered) {
    // At once: until it is in the file again, only the backup has it.
    await writeConfig(persistence, current.config);
    storedValue = current.config;
  }
  /** The one that the backup is known to hold. */
  let backedUp = stored.config && (await refreshBackup(persistence.path, current.config));

  const commit = async (change: NextConfig, expectedRevision: number) => {
    if (expectedRevision !== current.revision) throw revisionPassed();
    const config = validate(typeof change === 'function' ? change(current.config) : change);
    if (!isAsStored(persistence, storedValue)) throw changedElsewhere(persistence.path);
    // What a failed write is undone from.
    if (storedValue !== undefined && backedUp !== current.config) await writeBackup(persistence.path, current.config);
    backedUp = undefined;
    await writeOrRestore(persistence, config, storedValue);
    storedValue = config;
    backedUp = config;
    current = { config: deepFreeze(config), revision: current.revision + 1 };
    for (const listener of [...listeners]) tell(listener, current);
    return current;
  };

  return {
    get current() {
      return current;
    },
    readOnly: false,
    isFirstRun: stored.config === undefined && stored.notices.length === 0,
    notices: stored.notices,
    replaced: stored.replaced,
    commit: (change, expectedRevision) => inTurn(() => commit(change, expectedRevision ?? current.revision)),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** What a change was made of is no longer in force. */
export function revisionPassed(): GatewayError {
  return controlError('conflict', { code: 'changed-meanwhile' });
}

function changedElsewhere(path: string): GatewayError {
  return controlError('conflict', { code: 'file-changed', path });
}

function validate(next: ConfigInput): Config {
  const result = configSchema.safeParse(next);
  if (result.success) return result.data;
  throw new GatewayError('invalid_command', `The change is refused: ${summarizeProblems(problemsOf(result.error))}.`);
}

function tell(listener: (revision: ConfigRevision) => void, revision: ConfigRevision): void {
  try {
    listener(revision);
  } catch (error) {
    // The commit is done; it must not look failed because of one who heard of it.
    process.emitWarning(error instanceof Error ? error : 'a configuration listener failed');
  }
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
 * A backup that differs is of an earlier revision: the program was killed between the two writes, or a person has changed
 * the file. Where it cannot be written it stays as it is until the next commit. Returns what the backup holds now.
 */
async function refreshBackup(path: string, config: Config): Promise<Config | undefined> {
  const text = backupText(config);
  try {
    const stored = readFileSync(backupPath(path), 'utf8');
    if (stored !== text) await writeBackup(path, config);
    return config;
  } catch {
    return undefined;
  }
}

const backupText = (config: Config) => `${JSON.stringify(config, null, '\t')}\n`;

/** @param storedValue what the file holds, and its backup too; undefined if there is no file */
async function writeOrRestore(persistence: ConfigPersistence, next: Config, storedValue: unknown): Promise<void> {
  try {
    await writeConfig(persistence, next);
    await writeBackup(persistence.path, next);
  } catch (error) {
    await restore(persistence, storedValue);
    throw error;
  }
}

/** After a failed write. The backup is renamed to the file, which works on a full disk too. */
async function restore(persistence: ConfigPersistence, storedValue: unknown): Promise<void> {
  const { path } = persistence;
  try {
    if (storedValue === undefined) rmSync(path, { force: true });
    else if (!isAsStored(persistence, storedValue)) renameSync(backupPath(path), path);
  } catch {
    // Then the backup stays where it is, and the next start takes it if the file is damaged.
  }
  if (storedValue === undefined || isAsStored(persistence, storedValue)) return;
  // The rename brought something else, or nothing.
  await writeFileDurably(path, `${JSON.stringify(storedValue, null, '\t')}\n`).catch(() => {});
}

/** A file that was removed counts as unchanged: writing it again loses nothing. */
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
