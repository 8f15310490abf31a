/** The cassettes of groups and keys. Their code is loaded with the first request that needs it. */
import type { CassetteRegistry } from '../cassettes/cassette-registry.ts';
import type { ConfigStore } from '../config/config-store.ts';
import type { CassetteChoice } from '../contract/cassette.ts';
import type { Config } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import { GatewayError } from '../contract/errors.ts';
import type { CassetteControl } from '../control/changes/check-cassette.ts';
import type { CassetteDeck, CassetteSource } from '../exchange/cassette/cassette-companion.ts';
import type { GatewayPorts } from './ports.ts';

interface GatewayCassettes extends CassetteSource, CassetteControl {
  /** Resolves once all recordings are written. */
  close(): Promise<void>;
}

export function createCassettes({
  config,
  cassette,
  logging: { log },
}: Pick<GatewayPorts, 'config' | 'cassette' | 'logging'>): GatewayCassettes {
  let loading: Promise<CassetteRegistry> | null = null;
  let loaded: CassetteRegistry | null = null;
  const load = async () => {
    const { CassetteRegistry } = await import('../cassettes/cassette-registry.ts');
    loaded = new CassetteRegistry((line) => log.error(line));
    return loaded;
  };
  const openChosen = async (choice: CassetteChoice): Promise<CassetteDeck> => {
    loading ??= load();
    return (await loading).open(choice);
  };
  config.onChange(() => loaded?.keepOnly(choicesIn(config)));
  return {
    ofRun: cassette ?? null,
    async open(choice) {
      try {
        return await openChosen(choice);
      } catch (error) {
        if (choice.mode === 'record') return null;
        throw new GatewayError('cassette_unusable', messageOf(error), { cause: error });
      }
    },
    async check(choice) {
      try {
        await openChosen(choice);
      } catch (error) {
        throw controlError('invalid_value', { code: 'cassette-unusable', reason: messageOf(error) }, 'cassette');
      }
    },
    rewind: (folder) => loaded?.rewind(folder),
    async view() {
      const choices = choicesIn(config);
      if (choices.length === 0) return [];
      loading ??= load();
      const registry = await loading;
      return choices.map((choice) => registry.view(choice));
    },
    async close() {
      await (await loading)?.close();
    },
  };
}

/** Without duplicates. */
function choicesIn({ current }: ConfigStore): CassetteChoice[] {
  const { groups, keys }: Config = current.config;
  const choices = [...groups, ...keys].flatMap(({ cassette }) => (cassette && cassette !== 'off' ? [cassette] : []));
  return choices.filter(
    ({ mode, folder }, index) => choices.findIndex((each) => each.mode === mode && each.folder === folder) === index,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
