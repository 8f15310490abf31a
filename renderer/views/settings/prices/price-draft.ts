/** A price as a form has it: texts by the amount's name, an empty one for none. Pure. */
import { type PriceAmounts, type PriceField, priceFields } from '../../../../server/contract/price-views.ts';

export type PriceDraft = Record<PriceField, string>;

export const fieldNames = Object.keys(priceFields) as PriceField[];

/** As they stand together in the form; the first group is always open. */
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
  limits: ['maxOutput'],
} as const satisfies Record<string, readonly PriceField[]>;

export type FieldGroup = keyof typeof fieldGroups;

export function draftOf(amounts: PriceAmounts): PriceDraft {
  return Object.fromEntries(fieldNames.map((name) => [name, written(amounts[name])])) as PriceDraft;
}

/** Without exponents, which nobody writes: `0.0000001`. */
function written(amount: number | undefined): string {
  if (amount === undefined) return '';
  const text = String(amount);
  return text.includes('e') ? amount.toFixed(12).replace(/0+$/, '') : text;
}

/** Whether something was typed that is no amount: a number from 0 up, and a whole one from 1 where tokens are counted. */
export function isWrong(name: PriceField, text: string): boolean {
  const typed = text.trim();
  if (typed === '') return false;
  if (priceFields[name] === 'count') return !/^\d{1,15}$/.test(typed) || Number(typed) === 0;
  return !/^(\d{1,9}(\.\d{0,12})?|\.\d{1,12})$/.test(typed);
}

/** Counts of tokens are no price. */
export function hasPrice(draft: PriceDraft): boolean {
  return fieldNames.some((name) => priceFields[name] !== 'count' && draft[name].trim() !== '');
}

/** What is saved. Amounts of `before` that this version does not know are kept. */
export function amountsOf(draft: PriceDraft, before: PriceAmounts): Record<string, number> {
  const unknown = Object.entries(before).filter(([name]) => !Object.hasOwn(priceFields, name));
  const entered = fieldNames.filter((name) => draft[name].trim() !== '').map((name) => [name, Number(draft[name])]);
  return Object.fromEntries([...entered, ...unknown]);
}
