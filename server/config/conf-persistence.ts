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
