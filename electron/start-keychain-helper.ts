import { utilityProcess } from 'electron';
import type { StartKeychainHelper } from '../server/secrets/keychain-process.ts';

/** @param program the built `keychain-helper.ts` */
export function createKeychainHelperStarter(program: string): StartKeychainHelper {
  return (libraryPath, { onReply, onEnd }) => {
    const child = utilityProcess.fork(program, [libraryPath], { serviceName: 'Sluice keychain', stdio: 'ignore' });
    child.on('message', onReply);
    child.on('exit', () => onEnd('the keychain helper ended unexpectedly'));
    return { send: (call) => child.postMessage(call), kill: () => void child.kill() };
  };
}
