import { isDeepStrictEqual } from 'node:util';
import type { CassetteChoice, CassetteView, KeyCassette } from '../../contract/cassette.ts';
import type { Command } from '../../contract/commands.ts';
import type { Config } from '../../contract/config.ts';

/** Operations of the control plane on the cassettes of groups and keys. */
export interface CassetteControl {
  /**
   * Opens the cassette. Rejects with a GatewayError `invalid_value` that names the file and field that cannot be used.
   */
  check(choice: CassetteChoice): Promise<void>;
  /** Null for all cassettes. */
  rewind(folder: string | null): void;
  /** The cassettes that the configuration names. */
  view(): Promise<CassetteView[]>;
}

/** Refuses an unusable cassette that a command newly assigns to a group or a key. Rejects with a GatewayError. */
export async function checkCassette(cassettes: CassetteControl, command: Command, config: Config): Promise<void> {
  const { before, after } = cassetteChangeOf(command, config);
  if (after && after !== 'off' && !isDeepStrictEqual(before, after)) await cassettes.check(after);
}

interface CassetteChange {
  before?: KeyCassette | null | undefined;
  after?: KeyCassette | null | undefined;
}

function cassetteChangeOf(command: Command, { groups, keys }: Config): CassetteChange {
  switch (command.type) {
    case 'group.put':
      return { before: groups.find(({ id }) => id === command.group.id)?.cassette, after: command.group.cassette };
    case 'key.update':
      return { before: keys.find(({ id }) => id === command.id)?.cassette, after: command.changes.cassette };
    case 'key.create':
      return { after: command.cassette };
    default:
      return {};
  }
}
