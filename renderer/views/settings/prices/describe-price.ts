import type { PriceAmounts } from '../../../../server/contract/price-views.ts';
import type { Localization } from '../../../messages/use-messages.ts';
import { fieldNames, isPrice } from './price-draft.ts';

/**
 * `Input $2.50`, `Per image $0.04`: the amounts of a price. Token counts and factors are left out, because they are no
 * amounts.
 */
export function describeAmounts(
  amounts: PriceAmounts,
  { messages, formats }: Pick<Localization, 'messages' | 'formats'>,
): string[] {
  const { labels, free } = messages.prices;
  const priced = fieldNames.filter((name) => isPrice(name) && amounts[name] !== undefined);
  if (priced.length > 0 && priced.every((name) => amounts[name] === 0)) return [free];
  return priced.map((name) => `${labels[name]} ${formats.exactDollars(amounts[name] ?? 0)}`);
}
