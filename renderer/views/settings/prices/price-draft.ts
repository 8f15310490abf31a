/** A price as edited in a form: the text of each amount, empty for none. Pure. */
import { type PriceAmounts, type PriceField, priceFields } from '../../../../server/contract/price-views.ts';

type PriceDraft = Record<PriceField, string>;

export const fieldNames = Object.keys(priceFields) as PriceField[];

/** As grouped in the form; the first group is always open. */
export const fieldGroups = {
  tokens: ['input', 'output', 'cachedInput', 'cacheWrite', 'cacheWriteOneHour'],
  units: ['image', 'second', 'minute', 'characters', 'request'],
  media: ['audioInput', 'audioOutput', 'imageInput', 'imageOutput'],
  long: [
    'longContextAbove',
    'longContextInput',
    'longContextOutput',
    'longContextCachedInput',
    'longContextCacheWrite',
    'longContextCacheWriteOneHour',
  ],
  terms: ['webSearch', 'groundedRequest', 'priorityFactor', 'flexFactor', 'fastFactor'],
  limits: ['maxOutput'],
} as const satisfies Record<string, readonly PriceField[]>;

export type FieldGroup = keyof typeof fieldGroups;

export function draftOf(amounts: PriceAmounts): PriceDraft {
  return Object.fromEntries(fieldNames.map((name) => [name, written(amounts[name])])) as PriceDraft;
}

/** Without an exponent: `0.0000001`. */
function written(amount: number | undefined): string {
  if (amount === undefined) return '';
  const text = String(amount);
  return text.includes('e') ? amount.toFixed(12).replace(/0+$/, '') : text;
}

/**
 * Whether the typed text is invalid: neither empty, nor a number from 0 up, or for token counts a whole number from 1
 * up.
 */
export function isWrong(name: PriceField, text: string): boolean {
  const trimmed = text.trim();
  if (trimmed === '') return false;
  if (priceFields[name] === 'count') return !/^\d{1,15}$/.test(trimmed) || Number(trimmed) === 0;
  return !/^(\d{1,9}(\.\d{0,12})?|\.\d{1,12})$/.test(trimmed);
}

/** Whether it is an amount of money. */
export const isPrice = (name: PriceField) => priceFields[name] !== 'count' && priceFields[name] !== 'factor';

/** Token counts and factors alone are not a price. */
export function hasPrice(draft: PriceDraft): boolean {
  return fieldNames.some((name) => isPrice(name) && draft[name].trim() !== '');
}

/** The amounts to save. Amounts in `before` that this version does not know are kept. */
export function amountsOf(draft: PriceDraft, before: PriceAmounts): Record<string, number> {
  const unknown = Object.entries(before).filter(([name]) => !Object.hasOwn(priceFields, name));
  const entered = fieldNames.filter((name) => draft[name].trim() !== '').map((name) => [name, Number(draft[name])]);
  return Object.fromEntries([...entered, ...unknown]);
}
