import type { Config, ProviderConfig } from '../contract/config.ts';
import { createPriceTable, type ListPrices, type PricedProviders, type PriceTable } from './price-table.ts';

interface ConfigInForce {
  current: { config: Config };
  onChange(listener: (now: { config: Config }) => void): unknown;
}

/** Whether a model of this provider costs nothing because it runs on a machine of one's own. */
type CostsNothing = (provider: ProviderConfig, model: string) => boolean;

/** The list prices in force, which change when they are renewed. */
interface ListInForce {
  readonly list: ListPrices;
  onChange(listener: () => void): unknown;
}

/** The prices of the configuration in force. */
export function followPrices(config: ConfigInForce, costsNothing: CostsNothing, renewed: ListInForce): PriceTable {
  const read = () => {
    const { settings, providers } = config.current.config;
    return createPriceTable(settings.prices, pricedProviders(providers, costsNothing), renewed.list);
  };
  let prices = read();
  const follow = () => {
    prices = read();
  };
  config.onChange(follow);
  renewed.onChange(follow);
  return {
    cost: (...args) => prices.cost(...args),
    most: (...args) => prices.most(...args),
    tokenPrice: (...args) => prices.tokenPrice(...args),
    maxOutput: (...args) => prices.maxOutput(...args),
    applied: (...args) => prices.applied(...args),
  };
}

/** Prices are looked up by preset, because a provider's id is arbitrary. */
export function pricedProviders(providers: readonly ProviderConfig[], costsNothing: CostsNothing): PricedProviders {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  return {
    presetOf: (id) => byId.get(id)?.preset,
    isLocal(id, model) {
      const provider = byId.get(id);
      return provider !== undefined && costsNothing(provider, model);
    },
  };
}
