import { createRequire } from 'node:module';
import { type KeychainLibraryName, keychainLibraryNames } from './keychain-libraries.ts';
import { createKeychainProcess, type KeychainProcess, type StartKeychainHelper } from './keychain-process.ts';

/** Longer than a library takes to load; one that hangs is like one that is not there. */
const loadLimitMs = 5_000;

/** The absolute path of a library's main file; undefined if it is not installed. */
export type LocateLibrary = (name: KeychainLibraryName) => string | undefined;

export interface KeychainChoice {
  /** The first library that loads; undefined if none does. */
  library: { name: KeychainLibraryName; process: KeychainProcess } | undefined;
  /** Why each library before it does not load, in one phrase; empty if there is none. */
  refused: string;
}

/** Loads the libraries in turn, in a process of their own, since a binary for another system can end it. */
export async function chooseLibrary(
  startHelper: StartKeychainHelper | undefined,
  locate: LocateLibrary = locateInstalled,
): Promise<KeychainChoice> {
  const refused: string[] = [];
  for (const name of keychainLibraryNames) {
    const path = locate(name);
    if (path === undefined) {
      refused.push(`${name} is not installed`);
      continue;
    }
    const process = createKeychainProcess(path, startHelper);
    try {
      await process('load', [], loadLimitMs);
      return { library: { name, process }, refused: refused.join('; ') };
    } catch (error) {
      refused.push(`${name} does not load: ${reasonOf(error)}`);
    }
  }
  return { library: undefined, refused: refused.join('; ') };
}

/** The messages of both libraries contain neither account nor value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}

function locateInstalled(name: KeychainLibraryName): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
}
