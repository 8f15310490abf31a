/** Where the configuration is kept, and keeping it in a JSON file. */
import { dirname, parse } from 'node:path';
import type Conf from 'conf';
import { syncFolder } from '../ground/files/durable-file.ts';
import { readRegularFileSync, systemErrorCode } from '../ground/files/regular-file.ts';
import { parseConfigJson } from './check-config.ts';

/** Stores the configuration with `conf`, or with electron-store on the desktop, in the same file and format. */
export interface ConfigPersistence {
  /** The JSON file; backup and damaged versions are beside it. */
  readonly path: string;
  /**
   * The stored value; undefined if there is none. Throws a SyntaxError for invalid JSON, and a system error if the file
   * cannot be read.
   */
  read(): unknown;
  /** Replaces the value durably. */
  write(value: object): Promise<void>;
}

/**
 * A JSON file written by `conf` or electron-store. Both use `atomically` (temporary file, fsync, rename). This adds
 * - an fsync of the folder, without which a power failure can undo the rename;
 * - reading the file back, because `atomically` ignores short writes: on a full disk it renames a truncated file into
 *   place and reports success.
 *
 * @param replace writes the whole value to `path`, using a temporary file and a rename
 */
export function createJsonFilePersistence(path: string, replace: (value: object) => Promise<void>): ConfigPersistence {
  return {
    path,
    read: () => readJson(path),
    write: async (value) => {
      await replace(value);
      if (!holds(path, value)) throw new Error('it was written only in part; the disk may be full');
      await syncFolder(dirname(path));
    },
  };
}

function readJson(path: string): unknown {
  try {
    return parseConfigJson(readRegularFileSync(path));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function holds(path: string, value: object): boolean {
  try {
    return JSON.stringify(readJson(path)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/**
 * Writes `config.json` with the `conf` package, for the engine without the desktop; electron-store writes the same
 * format. `conf` is imported at the first write, because that takes 60 to 80 ms and a start only reads. Under Snap
 * (environment variable SNAP) `conf` does not write atomically; the backup then survives a crash.
 *
 * @param path ends in `.json`; its folder must exist
 */
export function createConfPersistence(path: string): ConfigPersistence {
  let conf: Conf | undefined;
  return createJsonFilePersistence(path, async (value) => {
    conf ??= await createConf(path);
    conf.store = { ...value };
  });
}

async function createConf(path: string): Promise<Conf> {
  const { default: Conf } = await import('conf');
  // conf's exit handler (signal-exit) listens to SIGABRT and its alias SIGIOT, and re-raises one while the other still
  // has a listener, so the signal would be lost. SIGABRT must end the process, even if its event loop is blocked.
  for (const signal of ['SIGABRT', 'SIGIOT'] as const) process.removeAllListeners(signal);
  const { name } = parse(path);
  return new Conf({
    cwd: dirname(path),
    configName: name,
    fileExtension: 'json',
    configFileMode: 0o600,
    clearInvalidConfig: false,
    accessPropertiesByDotNotation: false,
  });
}
