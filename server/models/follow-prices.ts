import type { Config, ProviderConfig } from '../contract/config.ts';
import { createPriceTable, type PricedProviders, type PriceTable } from './price-table.ts';

interface ConfigInForce {
  current: { config: Config };
  onChange(listener: (now: { config: Config }) => void): unknown;
}

/** Whether a model of this provider costs nothing because it runs on a machine of one's own. */
type CostsNothing = (provider: ProviderConfig, model: string) => boolean;

/** The prices of the configuration in force. */
export function followPrices(config: ConfigInForce, costsNothing: CostsNothing): PriceTable {
  const pricesOf = ({ settings, providers }: Config) =>
    createPriceTable(settings.prices, pricedProviders(providers, costsNothing));
  let prices = pricesOf(config.current.config);
  config.onChange((now) => {
    prices = pricesOf(now.config);
  });
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
