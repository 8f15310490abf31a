/**
 * Reads LiteLLM's public table of prices. `build/update-prices.ts` makes `public-prices.json` with it, and what renews prices
 * loads it when it has fetched a newer table.
 */
import { isObject } from '../../contract/is-object.ts';

/** Of a model in LiteLLM's table. */
export type LitellmEntry = Readonly<Record<string, unknown>>;
export type LitellmPrices = Record<string, number>;

/** LiteLLM's names of the services whose presets have public prices by model, and what it puts before their models. */
export const litellmServices: readonly {
  preset: string;
  providers: readonly string[];
  prefix: string;
  isMaker: boolean;
}[] = [
  { preset: 'openai', providers: ['openai', 'text-completion-openai'], prefix: '', isMaker: true },
  { preset: 'anthropic', providers: ['anthropic'], prefix: '', isMaker: true },
  { preset: 'gemini', providers: ['gemini'], prefix: 'gemini/', isMaker: true },
  { preset: 'xai', providers: ['xai'], prefix: 'xai/', isMaker: true },
  { preset: 'mistral', providers: ['mistral'], prefix: 'mistral/', isMaker: false },
  { preset: 'groq', providers: ['groq'], prefix: 'groq/', isMaker: false },
  { preset: 'together', providers: ['together_ai'], prefix: 'together_ai/', isMaker: false },
  {
    preset: 'fireworks',
    providers: ['fireworks_ai', 'fireworks_ai-embedding-models'],
    prefix: 'fireworks_ai/',
    isMaker: false,
  },
  { preset: 'cerebras', providers: ['cerebras'], prefix: 'cerebras/', isMaker: false },
  { preset: 'bedrock', providers: ['bedrock', 'bedrock_converse'], prefix: '', isMaker: false },
];

/** US dollars for a million, without the noise of binary fractions. */
const perMillion = (price: number) => Number((price * 1e6).toPrecision(10));

const numberIn = (entry: LitellmEntry, name: string): number | undefined => {
  const value = entry[name];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
};

const tokenFields: Readonly<Record<string, string>> = {
  input: 'input_cost_per_token',
  cachedInput: 'cache_read_input_token_cost',
  cacheWrite: 'cache_creation_input_token_cost',
  cacheWriteOneHour: 'cache_creation_input_token_cost_above_1hr',
  output: 'output_cost_per_token',
  audioInput: 'input_cost_per_audio_token',
  audioOutput: 'output_cost_per_audio_token',
  imageInput: 'input_cost_per_image_token',
  imageOutput: 'output_cost_per_image_token',
};

const longFields: Readonly<Record<string, string>> = {
  longContextInput: 'input_cost_per_token',
  longContextCachedInput: 'cache_read_input_token_cost',
  longContextCacheWrite: 'cache_creation_input_token_cost',
  longContextCacheWriteOneHour: 'cache_creation_input_token_cost_above_1hr',
  longContextOutput: 'output_cost_per_token',
};

/** Null if the entry has no price that Sluice knows how to apply. */
function pricesOf(entry: LitellmEntry): LitellmPrices | null {
  const { mode } = entry;
  const prices: LitellmPrices = {};
  for (const [field, name] of Object.entries(tokenFields)) {
    const price = numberIn(entry, name);
    if (price !== undefined) prices[field] = perMillion(price);
  }
  if (mode === 'embedding' || mode === 'moderation') delete prices.output;
  if (prices.imageInput === prices.input) delete prices.imageInput;
  // Nothing is written to a cache at no cost.
  for (const field of ['cachedInput', 'cacheWrite', 'cacheWriteOneHour']) if (prices[field] === 0) delete prices[field];
  Object.assign(prices, longContextOf(entry), otherMetersOf(entry));
  if (!Object.values(prices).some((price) => price > 0)) return null;
  Object.assign(prices, tiersOf(entry, prices), searchesOf(entry));
  const maxOutput = numberIn(entry, 'max_output_tokens');
  // Where it is as large as the window, it is no limit of its own.
  if (maxOutput && maxOutput !== numberIn(entry, 'max_input_tokens')) prices.maxOutput = maxOutput;
  return prices;
}

function longContextOf(entry: LitellmEntry): LitellmPrices {
  const thresholds = new Set(
    Object.keys(entry).flatMap((name) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(name)?.[1] ?? []),
  );
  const [threshold] = thresholds;
  if (threshold === undefined || thresholds.size !== 1) return {};
  const prices: LitellmPrices = { longContextAbove: Number(threshold) * 1000 };
  for (const [field, name] of Object.entries(longFields)) {
    const price = numberIn(entry, `${name}_above_${threshold}k_tokens`);
    if (price) prices[field] = perMillion(price);
  }
  return prices;
}

function otherMetersOf(entry: LitellmEntry): LitellmPrices {
  const { mode } = entry;
  const prices: LitellmPrices = {};
  const set = (field: string, ...names: string[]) => {
    const price = names.map((name) => numberIn(entry, name)).find((each) => each);
    if (price !== undefined) prices[field] = Number(price.toPrecision(10));
  };
  if (mode === 'audio_transcription') set('second', 'input_cost_per_second', 'output_cost_per_second');
  if (mode === 'video_generation') set('second', 'output_cost_per_second', 'output_cost_per_video_per_second');
  if (mode === 'image_generation') set('image', 'output_cost_per_image', 'input_cost_per_image');
  const characters = mode === 'audio_speech' ? numberIn(entry, 'input_cost_per_character') : undefined;
  if (characters) prices.characters = perMillion(characters);
  return prices;
}

/** What a tier costs as a multiple of the usual price, if that is one number for all kinds of tokens. */
function tiersOf(entry: LitellmEntry, prices: LitellmPrices): LitellmPrices {
  const tiers: LitellmPrices = {};
  for (const tier of ['priority', 'flex']) {
    const factors = ['input', 'output', 'cachedInput'].flatMap((field) => {
      const price = numberIn(entry, `${tokenFields[field]}_${tier}`);
      const usual = prices[field];
      return price === undefined || !usual ? [] : [(price * 1e6) / usual];
    });
    const [first] = factors;
    const isOne = first !== undefined && factors.every((factor) => Math.abs(factor / first - 1) < 0.06);
    if (isOne && first !== undefined) tiers[`${tier}Factor`] = Number(first.toPrecision(3));
  }
  const { provider_specific_entry: own } = entry;
  const fast = isObject(own) ? own.fast : undefined;
  if (typeof fast === 'number') tiers.fastFactor = fast;
  return tiers;
}

/** Gemini 2.5 and older are billed by request, however often they search. */
function searchesOf(entry: LitellmEntry): LitellmPrices {
  const { search_context_cost_per_query: costs } = entry;
  const price = isObject(costs) ? costs.search_context_size_medium : undefined;
  if (typeof price !== 'number' || price === 0) return {};
  const isByRequest = entry.litellm_provider === 'gemini' && entry.web_search_billing_unit !== 'per_query';
  return { [isByRequest ? 'groundedRequest' : 'webSearch']: price };
}

/** A model's prices as a service bills them. */
export interface ListedPrice {
  preset: string;
  /** Its name in Sluice's table: a maker's prices hold everywhere, those of other services under `preset/model`. */
  entry: string;
  /** The service's own name of the model. */
  model: string;
  /** A page of the service, if LiteLLM names one. */
  source: string | null;
  amounts: LitellmPrices;
}

/** What is no model: sizes and steps of pictures, ranges of parameters. */
const notAModel = /^(?:\d|low|medium|high|standard|hd|max-x)|-up-to-|-to-\d|-above-|-default$/;

/** The prices of the services that Sluice knows, the shortest name of a model first. */
export function readLitellmTable(table: Readonly<Record<string, LitellmEntry>>): ListedPrice[] {
  return litellmServices.flatMap(({ preset, providers, prefix, isMaker }) =>
    Object.entries(table)
      .filter(([, { litellm_provider: provider }]) => providers.includes(String(provider)))
      .filter(([name]) => preset !== 'bedrock' || !name.includes('/'))
      .sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
      .flatMap(([name, entry]) => {
        const amounts = pricesOf(entry);
        const model = name.startsWith(prefix) ? name.slice(prefix.length) : name;
        if (!amounts || notAModel.test(model)) return [];
        const source = typeof entry.source === 'string' ? entry.source : null;
        return [{ preset, entry: isMaker ? model : `${preset}/${model}`, model, source, amounts }];
      }),
  );
}
