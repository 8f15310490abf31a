/** Amounts of money in tables: in the currency of the settings. JSON and exports are in US dollars. */
import { costOfSum, type KnownCost, ofUnknownCost, type UsageTotals } from '../contract/ledger.ts';
import type { CurrencyView } from '../contract/price-views.ts';
import type { Control } from './control.ts';

let shown: CurrencyView | null = null;

/** Asks for the currency of the settings, in which `money` then writes. */
export async function showCurrency(control: Control): Promise<void> {
  shown = (await control.query({ type: 'status' })).currency;
}

/** `$0.0042`, or `0.0039 EUR`. */
export function money(usd: number, digits: number): string {
  if (!shown || shown.perDollar === null) return `$${usd.toFixed(digits)}`;
  return `${(usd * shown.perDollar).toFixed(digits)} ${shown.code}`;
}

/** A cell of a table: `$0.00042`, `-` if nothing was spent, or `unknown`. `mark` stands before an amount. */
export function costText(cost: KnownCost, digits: number, mark = ''): string {
  if (cost === 'nothing') return '-';
  return cost === 'unknown' ? cost : `${mark}${money(cost, digits)}`;
}

/** An amount, with how many requests are missing from it: `$0.0042 and 3 of unknown cost`. */
export function sumText(sum: Pick<UsageTotals, 'costUsd' | 'unpricedRequests'>): string {
  const cost = costText(costOfSum(sum), 4);
  return sum.costUsd === null ? cost : cost + andUnknown(sum.unpricedRequests);
}

/** Empty for none. */
export function andUnknown(requests: number): string {
  return requests > 0 ? ` and ${ofUnknownCost(String(requests))}` : '';
}
