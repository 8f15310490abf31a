/** `--cassette` and `--cassette-mode` of a group or a key. */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type CassetteMode, cassetteModes, type KeyCassette } from '../contract/cassette.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';

export interface CassetteFlags {
  cassette?: string;
  cassetteMode?: CassetteMode | 'off' | 'group';
}

/** `owner`: only a key has the choice `group`, to use its group's cassette. */
export function addCassetteOptions(command: Command, owner: 'group' | 'key'): Command {
  const choices = [...cassetteModes, 'off', ...(owner === 'key' ? ['group'] : [])];
  const mode = new Option('--cassette-mode <mode>', 'how the cassette is used').choices(choices);
  return command
    .option('--cassette <folder>', 'record its requests in this folder, or answer them from there')
    .addOption(mode);
}

/**
 * Undefined if no option was given; null for a key that uses its group's cassette. Throws CliError for a mode without a
 * folder.
 */
export function cassetteChoice(
  { cassette, cassetteMode }: CassetteFlags,
  before: KeyCassette | null,
): KeyCassette | null | undefined {
  if (cassetteMode === 'off') return 'off';
  if (cassetteMode === 'group') return null;
  if (cassette === undefined && cassetteMode === undefined) return undefined;
  const previous = before === 'off' ? null : before;
  const folder = cassette === undefined ? previous?.folder : resolve(cassette);
  if (folder === undefined) throw new CliError('Name its folder: --cassette FOLDER.', exitCodes.usage);
  return { mode: cassetteMode ?? previous?.mode ?? 'replay-or-record', folder };
}

/** As text for a person. */
export function describeCassette(cassette: KeyCassette | null, without: string): string {
  if (cassette === null) return without;
  return cassette === 'off' ? 'off' : `${cassette.mode} ${cassette.folder}`;
}
