import type { Config } from '../contract/config.ts';
import { createPriceTable, type PriceTable } from './price-table.ts';

interface FollowedConfig {
  readonly current: { config: Config };
  onChange(listener: (now: { config: Config }) => void): void;
}

/** The prices of the present configuration, also after it has changed. */
export function followPrices(config: FollowedConfig): PriceTable {
  let prices = pricesOf(config.current.config);
  config.onChange((now) => {
    prices = pricesOf(now.config);
  });
  return {
    cost: (...asked) => prices.cost(...asked),
    tokenPrice: (...asked) => prices.tokenPrice(...asked),
    maxOutput: (...asked) => prices.maxOutput(...asked),
  };
}

/** Prices are looked up by preset, since a provider's id is arbitrary. */
function pricesOf({ settings, providers }: Config): PriceTable {
  const presets = new Map(providers.map(({ id, preset }) => [id, preset]));
  return createPriceTable(settings.prices, (provider) => presets.get(provider));
}
