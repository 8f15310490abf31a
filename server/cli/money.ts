/** Amounts of money in tables: in the currency of the settings. JSON and exports are in US dollars. */
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
