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

/** A price that was read from the public table and is not in force. */
export interface PriceChange {
  /** Its name in the price table. */
  entry: string;
  /** The service that bills it. */
  preset: string;
  /** Null: the model had no price. */
  before: PriceAmounts | null;
  after: PriceAmounts;
  /** A price falls to 0, vanishes, or changes more than fivefold: it never applies by itself. */
  isImplausible: boolean;
}

export interface PriceRenewalView {
  mode: PriceRenewalMode;
  /** Where the public table is. */
  address: string;
  /** The day of the list prices in force, such as `2026-11-20`. */
  date: string;
  /** When the public table was last read, in Unix milliseconds; null: not yet. */
  checkedAt: number | null;
  /** Why the last attempt failed, in English; null if it did not. */
  failure: string | null;
  waiting: PriceChange[];
}

/** `ask`: changes are shown and wait; `apply`: those that are plausible apply by themselves. */
export const priceRenewalModes = ['off', 'ask', 'apply'] as const;
export type PriceRenewalMode = (typeof priceRenewalModes)[number];

/** How amounts of money are shown. */
export interface CurrencyView {
  /** ISO 4217: `EUR`. */
  code: string;
  /** Null: no rate is known, so dollars are shown. */
  perDollar: number | null;
  /** The day of a renewed rate; null for one that was set by hand. */
  date: string | null;
  /** Why the rate could not be renewed, in English. */
  failure: string | null;
}

export interface PriceListView {
  /** The list prices: their day, and how they are renewed. */
  renewal: PriceRenewalView;
  /**
   * Models with unpriced requests come first, those with the most requests at the top; then sorted by model and
   * provider.
   */
  models: ModelPriceView[];
}
