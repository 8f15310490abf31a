/**
 * The utility process that runs keytar (for the reason, see `server/secrets/keychain-process.ts`). The engine's usual child
 * process does not work here, because the desktop's binary must not run as plain Node (Electron fuse `runAsNode`).
 */
import { createRequire } from 'node:module';
import type { KeytarCall } from '../server/secrets/keychain-process.ts';

type Keytar = Record<KeytarCall['verb'], (...parameters: string[]) => Promise<unknown>>;

const load = (): Keytar => createRequire(import.meta.url)(process.argv.at(-1) ?? '');

process.parentPort.on('message', async ({ data }: { data: KeytarCall }) => {
  const { id, verb, parameters } = data;
  try {
    process.parentPort.postMessage({ id, result: await load()[verb](...parameters) });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : 'unknown error';
    process.parentPort.postMessage({ id, problem: `keytar: ${reason}` });
  }
});
