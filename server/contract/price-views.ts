/** Prices as shown and changed in the window. Does not import zod, because the window imports it. */

/**
 * The amounts that a price may have. `token`: US dollars per 1,000,000 tokens; `character`: per 1,000,000 characters;
 * `second`, `minute`, `image` and `request`: US dollars per one of them. `search`: per search of the
 * web. `factor`: a multiple of the prices of tokens. `count`: a number of tokens, not a price.
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
  webSearch: 'search',
  groundedRequest: 'request',
  priorityFactor: 'factor',
  flexFactor: 'factor',
  fastFactor: 'factor',
  maxOutput: 'count',
} as const;

export type PriceField = keyof typeof priceFields;

export const priceFieldNames = Object.keys(priceFields) as PriceField[];

export type PriceAmounts = Readonly<Partial<Record<PriceField, number>>>;

/** An entry of the price table. */
export interface AppliedPrice {
  /** Its name: a model, or `provider/model` or `preset/model`. */
  entry: string;
  /** Whether it is one of `settings.prices`. */
  isOwn: boolean;
  /** Whether it is 0 because the model runs on a machine of one's own. */
  isLocal?: true;
  amounts: PriceAmounts;
}

export interface ModelPriceView {
  /** Id of the provider. */
  provider: string;
  /** The provider's name for it. */
  model: string;
  /** Null if unknown. */
  price: AppliedPrice | null;
  /** The price that would apply without `settings.prices`; null if there is none. */
  builtIn: AppliedPrice | null;
  /** Number of requests, among the latest 100,000, of unknown cost because this model has no price. */
  unpricedRequests: number;
}

export interface PriceListView {
  /** The day on which the built-in prices were last checked, such as `2026-11-20`. */
  builtInDate: string;
  /**
   * Models with unpriced requests come first, those with the most requests at the top; then sorted by model and
   * provider.
   */
  models: ModelPriceView[];
}
