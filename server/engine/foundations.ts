/** The lowest layer of a gateway: outbound transport, the store, and what depends only on these. */
import { createAnswerCache } from '../cache/answer-cache.ts';
import type { CassetteRegistry } from '../cassettes/deck.ts';
import type { ConfigStore } from '../config/config-store.ts';
import type { CassetteChoice } from '../contract/cassette.ts';
import type { Config } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Usage } from '../contract/ledger.ts';
import type { LedgerHealthView } from '../contract/status-views.ts';
import type { CassetteControl } from '../control/changes/check-cassette.ts';
import { PriceRenewal } from '../control/prices/price-renewal.ts';
import { RecentCaptures, WaitingCaptures } from '../exchange/capture/capture-companion.ts';
import type { CassetteDeck, CassetteSource } from '../exchange/cassette/cassette-companion.ts';
import { SessionTracker } from '../exchange/sessions/session-companion.ts';
import { onTimerFault } from '../ground/timers.ts';
import { followPrices } from '../models/price-table.ts';
import { costsNothing } from '../providers/detect-local.ts';
import { HealthPicker } from '../routing/health/health-picker.ts';
import { HealthTracker } from '../routing/health/health-tracker.ts';
import { ToldLimits } from '../routing/health/told-limits.ts';
import type { Target } from '../routing/snapshot.ts';
import { openLocalStore } from '../store/local-store.ts';
import { createAuthorities } from '../transport/authorities.ts';
import { createTransport } from '../transport/create-transport.ts';
import { createFetch } from '../transport/fetch.ts';
import type { GatewayPorts } from './ports.ts';

/** Targets are compared by the price of this request; each model is charged only for the quantities that it bills. */
const typicalRequest: Usage = { inputTokens: 3_000, outputTokens: 1_000, seconds: 60, characters: 1_000, images: 1 };

export type Foundations = Awaited<ReturnType<typeof openFoundations>>;

export async function openFoundations({
  config,
  folders: { dataDir },
  logging,
  proxies,
  cassette,
  replicas,
}: GatewayPorts) {
  const { log, notice = () => {} } = logging;
  const openStore = replicas?.openStore ?? openLocalStore;
  const forgetFaults = onTimerFault((error) => log.error({ error }, 'a fault in the background'));
  const settings = () => config.current.config.settings;
  const authorities = createAuthorities(() => ({ system: settings().systemCa, files: settings().extraCaFiles }));
  const transport = createTransport({
    proxies: {
      ...proxies,
      get noProxy() {
        return [proxies.noProxy ?? '', ...settings().noProxy].join(',');
      },
    },
    authorities,
  });
  const store = await openStore({ dataDir, log, settings });
  const sessions = new SessionTracker(store.ledger);
  const cache = createAnswerCache(config);
  const cassettes = createCassettes({ config, logging, cassette });
  const health = new HealthTracker({ nowMs: () => performance.now() });
  const renewal = new PriceRenewal({
    store: store.renewals,
    fetch: createFetch(transport),
    settings,
    log,
  });
  await renewal.open();
  config.onChange(() => renewal.settingsChanged());
  const prices = followPrices(config, costsNothing, renewal);
  const typicalPrice = ({ provider, model }: Target) =>
    model === null ? null : prices.cost(provider.id, model, typicalRequest);
  return {
    transport,
    authorities,
    ...store,
    sessions,
    cache,
    cassettes,
    captures: new WaitingCaptures({ ledger: store.ledger, log }),
    recentCaptures: new RecentCaptures(),
    health,
    toldLimits: new ToldLimits(),
    prices,
    renewal,
    typicalPrice,
    picker: new HealthPicker({ health, typicalPrice }),
    async close() {
      renewal.close();
      await cassettes.close();
      await transport.close();
      await store.close();
      noteUnwritten(store.ledger.health(), notice);
      forgetFaults();
    },
  };
}

/** For rows that were not written by the end, and will not be at the next start. */
function noteUnwritten(
  { pending, spooled, dropped, lastError }: LedgerHealthView,
  notice: (line: string) => void,
): void {
  const lost = pending - spooled + dropped;
  if (lost > 0) notice(`${lost} rows of the ledger could not be written: ${lastError ?? 'the disk took no more'}.`);
}

interface GatewayCassettes extends CassetteSource, CassetteControl {
  /** Resolves once all recordings are written. */
  close(): Promise<void>;
}

/** The cassettes of groups and keys. Their code is loaded with the first request that needs it. */
function createCassettes({
  config,
  cassette,
  logging: { log },
}: Pick<GatewayPorts, 'config' | 'cassette' | 'logging'>): GatewayCassettes {
  let loading: Promise<CassetteRegistry> | null = null;
  let loaded: CassetteRegistry | null = null;
  const load = async () => {
    const { CassetteRegistry } = await import('../cassettes/deck.ts');
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
