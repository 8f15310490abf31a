/** The models that a key or a group may use, with facts that help to choose among them. */

import { servedApis } from '../../apis/registry.ts';
import { isWireName, upstreamWireOf } from '../../apis/translation/translation-registry.ts';
import { possibleLosses } from '../../apis/translation/translator.ts';
import type { ModelHealth, ModelView, WireWay } from '../../contract/access-views.ts';
import { demoProviderId } from '../../contract/config.ts';
import type { ModelPriceView, PriceListView, PriceRenewalView } from '../../contract/price-views.ts';
import { bestHealth } from '../../contract/provider-condition.ts';
import {
  createPriceTable,
  type ListPrices,
  type PricedProviders,
  type PriceTable,
  pricedProviders,
} from '../../models/price-table.ts';
import { costsNothing } from '../../providers/detect-local.ts';
import { contextOf } from '../../routing/attempt-plan.ts';
import { anyKeyOf, usableRoutes } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, Snapshot, Target } from '../../routing/snapshot.ts';
import type { LedgerQueries } from '../../store/sqlite/queries.ts';
import type { LiveConfig } from '../live/live-config.ts';
import type { PriceRenewal } from '../prices/price-renewal.ts';

export interface Asker {
  group: CompiledGroup;
  /** Null for any key of the group. */
  key: CompiledKey | null;
}

/** Facts about a target besides the configuration. */
export interface ModelFacts {
  price(target: Target): ModelView['price'];
  health(target: Target): ModelHealth;
}

export function viewModels({ group, key }: Asker, { modelFacts }: { modelFacts: ModelFacts }): ModelView[] {
  const nowMs = Date.now();
  return usableRoutes(group, key ?? anyKeyOf(group)).map(({ listed: { id, ownedBy }, targets }) => {
    const judged = targets.map((target) => ({ target, health: modelFacts.health(target) }));
    const usable = judged.filter(({ target, health }) => !(target.takesAnyName && health.state === 'refused'));
    const first = usable[0]?.target;
    return {
      id,
      ownedBy,
      providers: [...new Set(usable.map(({ target }) => target.provider.id))],
      isAlias: group.aliases.has(id),
      contextTokens: (first && contextOf(first)) ?? null,
      price: first ? modelFacts.price(first) : null,
      health:
        bestHealth(
          usable.map(({ health }) => health),
          nowMs,
        ) ?? refused,
    };
  });
}

/** Of a model that only services with a refused credential might have. */
const refused: ModelHealth = { state: 'refused', failure: 'credential', failedWith: null, until: null };

interface PriceSources {
  providers: Snapshot['providers'];
  /** The prices in force. */
  prices: Pick<PriceTable, 'applied'>;
  priced: PricedProviders;
  unpriced: Awaited<ReturnType<LedgerQueries['listUnpriced']>>;
  list: ListPrices;
  renewal: PriceRenewalView;
}

interface PricePorts {
  live: Pick<LiveConfig, 'used' | 'snapshot'>;
  ledger: Pick<LedgerQueries, 'listUnpriced'>;
  routing: { prices: Pick<PriceTable, 'applied'>; renewal: Pick<PriceRenewal, 'view' | 'list'> };
}

export async function viewAllPrices({
  live,
  ledger,
  routing: { prices, renewal },
}: PricePorts): Promise<PriceListView> {
  const priced = pricedProviders(live.used.config.providers, costsNothing);
  const { providers } = live.snapshot;
  const unpriced = await ledger.listUnpriced();
  return viewPrices({ providers, prices, priced, unpriced, list: renewal.list, renewal: renewal.view() });
}

/** The prices of models, for the screen that shows and changes them. */
export function viewPrices({ providers, prices, priced, unpriced, list, renewal }: PriceSources): PriceListView {
  const builtIn = createPriceTable({}, priced, list);
  const views = new Map<string, ModelPriceView>();
  const add = (provider: string, model: string, requests: number) => {
    if (provider === demoProviderId || model === '' || views.has(`${provider}/${model}`)) return;
    const price = prices.applied(provider, model);
    const unpricedRequests = price === null ? requests : 0;
    const view = { provider, model, price, builtIn: builtIn.applied(provider, model), unpricedRequests };
    views.set(`${provider}/${model}`, view);
  };
  for (const { provider, model, requests } of unpriced) if (providers.has(provider)) add(provider, model, requests);
  for (const { id, models } of providers.values()) for (const model of models.keys()) add(id, model, 0);
  return { renewal, models: [...views.values()].sort(byNeed) };
}

function byNeed(a: ModelPriceView, b: ModelPriceView): number {
  return b.unpricedRequests - a.unpricedRequests || compare(a.model, b.model) || compare(a.provider, b.provider);
}

const compare = (one: string, other: string) => Number(one > other) - Number(one < other);

/** The conversation wires that Sluice serves. */
const clientWires = [
  ...new Set(servedApis.flatMap(({ routes }) => routes.filter(({ stream }) => stream).map(({ wire }) => wire.name))),
].filter(isWireName);

/** @param model the client's name for the model */
export function explainWires(target: Target, model: string): WireWay[] {
  return clientWires.flatMap((client) => {
    const upstream = upstreamWireOf(target, client, null);
    return upstream === null ? [] : [{ client, upstream, ...possibleLosses(client, upstream, target.model ?? model) }];
  });
}
