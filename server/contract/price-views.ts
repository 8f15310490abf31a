/** Prices as screens show and change them. Without zod, since the window imports it. */

/**
 * The amounts that a price may have. `token`: US dollars for 1,000,000 tokens; `character`: for 1,000,000 characters; the
 * other dollars are for one second, minute, image or request. `count`: no price, but a number of tokens.
 */
export const priceFields = {
  input: 'token',
  output: 'token',
  cachedInput: 'token',
  cacheWrite: 'token',
  cacheWriteOneHour: 'token',
  longContextAbove: 'count',
  longContextInput: 'token',
  longContextOutput: 'token',
  longContextCachedInput: 'token',
  longContextCacheWrite: 'token',
  longContextCacheWriteOneHour: 'token',
  audioInput: 'token',
  audioOutput: 'token',
  imageInput: 'token',
  imageOutput: 'token',
  image: 'image',
  second: 'second',
  minute: 'minute',
  characters: 'character',
  request: 'request',
  maxOutput: 'count',
} as const;

export type PriceField = keyof typeof priceFields;
export type PriceUnit = (typeof priceFields)[PriceField];

/** By `PriceField`; names that this version does not know are kept. */
export type PriceAmounts = Readonly<Record<string, number>>;

/** An entry of the price table. */
export interface AppliedPrice {
  /** Its name: a model, or `provider/model` or `preset/model`. */
  entry: string;
  /** It is one of `settings.prices`. */
  isOwn: boolean;
  amounts: PriceAmounts;
}

export interface ModelPriceView {
  /** Id of the provider. */
  provider: string;
  /** As the provider knows it. */
  model: string;
  /** Null: unknown. */
  price: AppliedPrice | null;
  /** What would apply without `settings.prices`; null: nothing. */
  builtIn: AppliedPrice | null;
  /** Of the latest 100,000 requests, those whose cost is unknown because this model has no price. */
  unpricedRequests: number;
}

export interface PriceListView {
  /** The day on which the built-in prices were last checked, such as `2026-11-20`. */
  builtInDate: string;
  /** Those with unpriced requests first, most requests first; then by model and provider. */
  models: ModelPriceView[];
}
