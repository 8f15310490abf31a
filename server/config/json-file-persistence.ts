import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../files/durable-file.ts';
import { systemErrorCode } from '../files/file-problem.ts';
import { parseJson } from './parse-json.ts';
import type { ConfigPersistence } from './persistence.ts';

/**
 * A JSON file that some settings package replaces. Reading is plain node:fs. Around the package's write stands what
 * `conf` and electron-store leave out (both write through `atomically`: temporary file, fsync, rename):
 * - the folder's fsync, without which a power cut can undo the rename;
 * - reading back, since `atomically` ignores a short write: on a disk that fills up it renames half a file into place
 *   and reports success.
 *
 * @param replace writes the whole value to `path`, by a temporary file and a rename
 */
export function createJsonFilePersistence(path: string, replace: (value: object) => Promise<void>): ConfigPersistence {
  return {
    path,
    read: () => readJson(path),
    write: async (value) => {
      await replace(value);
      if (!holds(path, value)) throw new Error('only a part of it arrived there; perhaps the disk is full');
      await syncFolder(dirname(path));
    },
  };
}

function readJson(path: string): unknown {
  try {
    return parseJson(readFileSync(path, 'utf8'));
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
