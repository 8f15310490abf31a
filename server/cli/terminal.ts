import type { Readable, Writable } from 'node:stream';
import type { PresetPlaces } from '../config/managed-preset.ts';
import type { TeamPart } from '../engine/team.ts';

/** The parts of the process that the command line uses. */
export interface Terminal {
  /** Without the paths of Node and the program. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean };
  /** Folders that may contain the built window; the first match is used. */
  windowFolders: readonly string[];
  /** Possible locations of managed team presets. */
  teamPresets: PresetPlaces;
  /** What gateways for teams add to an engine; absent in a build without it. */
  loadTeam?: (() => Promise<TeamPart>) | undefined;
}
