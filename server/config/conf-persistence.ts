import { dirname, parse } from 'node:path';
import type Conf from 'conf';
import { createJsonFilePersistence } from './json-file-persistence.ts';
import type { ConfigPersistence } from './persistence.ts';

/**
 * `config.json` by the `conf` package, for the engine without the desktop; electron-store writes the same file in the
 * same shape. `conf` is imported at the first write: its import takes 60 to 80 ms, and a start only reads. Under Snap
 * (environment variable SNAP) `conf` writes in place instead of atomically; there the backup is what a crash leaves.
 *
 * @param path ends in `.json`; its folder must exist
 */
export function openConfPersistence(path: string): ConfigPersistence {
  let conf: Conf | undefined;
  return createJsonFilePersistence(path, async (value) => {
    conf ??= await createConf(path);
    conf.store = { ...value };
  });
}

async function createConf(path: string): Promise<Conf> {
  const { default: Conf } = await import('conf');
  // What cleans up behind its writes listens to SIGABRT under both of its names and raises it again while one of the two
  // still listens: the signal would be lost. It has to end the program, also one whose loop stands still.
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
