/**
 * The utility process that runs a library of the keychain (for the reason, see `server/secrets/keychain-process.ts`). The
 * engine's usual child process does not work here, because the desktop's binary must not run as plain Node (Electron fuse
 * `runAsNode`).
 */
import { createRequire } from 'node:module';
import { adaptKeychainLibrary } from '../server/secrets/keychain-libraries.ts';
import type { KeychainCall } from '../server/secrets/keychain-process.ts';

type Calls = Record<KeychainCall['verb'], (...parameters: string[]) => Promise<unknown>>;

const load = (): Calls => adaptKeychainLibrary(createRequire(import.meta.url)(process.argv.at(-1) ?? ''));

process.parentPort.on('message', async ({ data }: { data: KeychainCall }) => {
  const { id, verb, parameters } = data;
  try {
    process.parentPort.postMessage({ id, result: await load()[verb](...parameters) });
  } catch (error) {
    const problem = error instanceof Error ? error.message.split('\n')[0] : 'unknown error';
    process.parentPort.postMessage({ id, problem });
  }
});
