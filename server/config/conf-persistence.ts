import { dirname, parse } from 'node:path';
import type Conf from 'conf';
import { type ConfigPersistence, createJsonFilePersistence } from './persistence.ts';

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
