/** The prices of models, for the screen that shows and changes them. */
import { demoProviderId } from '../../contract/config.ts';
import type { ModelPriceView, PriceListView } from '../../contract/price-views.ts';
import {
  builtInPricesDate,
  createPriceTable,
  type PricedProviders,
  type PriceTable,
} from '../../models/price-table.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { LedgerQueries } from '../../store/sqlite/queries.ts';

interface PriceSources {
  providers: Snapshot['providers'];
  /** The prices in force. */
  prices: Pick<PriceTable, 'applied'>;
  priced: PricedProviders;
  unpriced: Awaited<ReturnType<LedgerQueries['listUnpriced']>>;
}

export function viewPrices({ providers, prices, priced, unpriced }: PriceSources): PriceListView {
  const builtIn = createPriceTable({}, priced);
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
  return { builtInDate: builtInPricesDate, models: [...views.values()].sort(byNeed) };
}

function byNeed(a: ModelPriceView, b: ModelPriceView): number {
  return b.unpricedRequests - a.unpricedRequests || compare(a.model, b.model) || compare(a.provider, b.provider);
}

const compare = (one: string, other: string) => Number(one > other) - Number(one < other);
