import type { Readable, Writable } from 'node:stream';
import type { PresetPlaces } from '../config/managed-preset.ts';

/** What the command line may touch of the process that runs it. */
export interface Terminal {
  /** Without Node and the program. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean };
  /** Where the built window may be; the first that holds one counts. */
  windowFolders: readonly string[];
  /** Where team presets may be that whoever manages this machine has put there. */
  teamPresets: PresetPlaces;
}
