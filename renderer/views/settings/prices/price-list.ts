/** The rows of the price list. Pure. */
import type { AppliedPrice, ModelPriceView, PriceAmounts } from '../../../../server/contract/price-views.ts';

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
