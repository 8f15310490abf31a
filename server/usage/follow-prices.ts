import type { Config } from '../contract/config.ts';
import { createPriceTable, type PriceTable } from './price-table.ts';

interface ConfigInForce {
  current: { config: Config };
  onChange(listener: (now: { config: Config }) => void): unknown;
}

/** The prices of the configuration in force. */
export function followPrices(config: ConfigInForce): PriceTable {
  let prices = pricesOf(config.current.config);
  config.onChange((now) => {
    prices = pricesOf(now.config);
  });
  return {
    cost: (...args) => prices.cost(...args),
    tokenPrice: (...args) => prices.tokenPrice(...args),
    maxOutput: (...args) => prices.maxOutput(...args),
    applied: (...args) => prices.applied(...args),
  };
}

/** Prices are looked up by preset, because a provider's id is arbitrary. */
function pricesOf({ settings, providers }: Config): PriceTable {
  const presets = new Map(providers.map(({ id, preset }) => [id, preset]));
  return createPriceTable(settings.prices, (provider) => presets.get(provider));
}
