/** The rows of the price list, and a price in words and as edited in a form. Pure. */
import {
  type AppliedPrice,
  type ModelPriceView,
  type PriceAmounts,
  type PriceField,
  priceFields,
} from '../../../../server/contract/price-views.ts';
import type { Localization } from '../../../messages/use-messages.ts';

export interface PriceRowView {
  /** Null for a custom price that no model uses now. */
  provider: string | null;
  model: string;
  price: AppliedPrice | null;
  builtIn: AppliedPrice | null;
  unpricedRequests: number;
}

export const priceKinds = ['all', 'unpriced', 'own'] as const;
export type PriceKind = (typeof priceKinds)[number];

/** All models, followed by the custom prices that apply to none of them. */
export function rowsOf(
  models: readonly ModelPriceView[],
  ownPrices: Readonly<Record<string, PriceAmounts>>,
): readonly PriceRowView[] {
  const usedEntries = new Set(models.flatMap(({ price }) => (price?.isOwn ? [price.entry] : [])));
  const unused = Object.entries(ownPrices).filter(([entry]) => !usedEntries.has(entry));
  return [
    ...models,
    ...unused.map(([entry, amounts]) => {
      const price = { entry, isOwn: true, amounts };
      return { provider: null, model: entry, price, builtIn: null, unpricedRequests: 0 };
    }),
  ];
}

interface PriceFilter {
  kind: PriceKind;
  search: string;
  providerName(id: string): string;
}

/** Each word must occur in the names of the model and provider. */
export function filterRows(
  rows: readonly PriceRowView[],
  { kind, search, providerName }: PriceFilter,
): readonly PriceRowView[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ provider, model, price }) => {
    if (kind === 'unpriced' && price !== null) return false;
    if (kind === 'own' && !price?.isOwn) return false;
    const text = `${provider ?? ''}/${model} ${provider === null ? '' : providerName(provider)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** A price as edited in a form: the text of each amount, empty for none. */
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
const isPrice = (name: PriceField) => priceFields[name] !== 'count' && priceFields[name] !== 'factor';

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
