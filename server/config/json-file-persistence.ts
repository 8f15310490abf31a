import { dirname } from 'node:path';
import { syncFolder } from '../ground/files/durable-file.ts';
import { readRegularFileSync, systemErrorCode } from '../ground/files/regular-file.ts';
import { parseConfigJson } from './parse-config-json.ts';
import type { ConfigPersistence } from './persistence.ts';

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
