import { utilityProcess } from 'electron';
import type { StartKeytar } from '../server/secrets/keychain-process.ts';

/** @param program the built `keytar-child.ts` */
export function createKeytarStarter(program: string): StartKeytar {
  return (keytarPath, { onReply, onEnd }) => {
    const child = utilityProcess.fork(program, [keytarPath], { serviceName: 'Sluice keychain', stdio: 'ignore' });
    child.on('message', onReply);
    child.on('exit', () => onEnd('the keychain helper ended unexpectedly'));
    return { send: (call) => child.postMessage(call), kill: () => void child.kill() };
  };
}
