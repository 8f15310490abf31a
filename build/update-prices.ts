/**
 * Makes the public part of the price table, and the names and prices by which tests check it. Run by hand when a new
 * version is wanted; what it writes is checked in.
 *
 *   pip download litellm --no-deps && unzip -p litellm-*.whl litellm/model_prices_and_context_window_backup.json > prices.json
 *   pip download model-prices --no-deps && unzip -p model_prices-*.whl model_prices/snapshot.json > models-dev.json
 *   node build/update-prices.ts VERSION DAY prices.json models-dev.json && npx biome format --write server/models
 *
 * `VERSION` is that of LiteLLM, `DAY` the day on which its table was read. Both packages are under the MIT licence;
 * model-prices holds the history of models.dev, which is too.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../server/contract/is-object.ts';
import { identify } from '../server/contract/model-identity.ts';

type Entry = Readonly<Record<string, unknown>>;
type Prices = Record<string, number>;

/** LiteLLM's names of the services whose presets have public prices by model, and what it puts before their models. */
const services: readonly { preset: string; providers: readonly string[]; prefix: string; isMaker: boolean }[] = [
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

const [version = '', date = '', tablePath = '', historyPath = ''] = process.argv.slice(2);
const table = JSON.parse(readFileSync(tablePath, 'utf8')) as Record<string, Entry>;
const root = join(import.meta.dirname, '..');

/** US dollars for a million, without the noise of binary fractions. */
const perMillion = (price: number) => Number((price * 1e6).toPrecision(10));

const numberIn = (entry: Entry, name: string): number | undefined => {
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
function pricesOf(entry: Entry): Prices | null {
  const { mode } = entry;
  const prices: Prices = {};
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

function longContextOf(entry: Entry): Prices {
  const thresholds = new Set(
    Object.keys(entry).flatMap((name) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(name)?.[1] ?? []),
  );
  const [threshold] = thresholds;
  if (threshold === undefined || thresholds.size !== 1) return {};
  const prices: Prices = { longContextAbove: Number(threshold) * 1000 };
  for (const [field, name] of Object.entries(longFields)) {
    const price = numberIn(entry, `${name}_above_${threshold}k_tokens`);
    if (price) prices[field] = perMillion(price);
  }
  return prices;
}

function otherMetersOf(entry: Entry): Prices {
  const { mode } = entry;
  const prices: Prices = {};
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
function tiersOf(entry: Entry, prices: Prices): Prices {
  const tiers: Prices = {};
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
function searchesOf(entry: Entry): Prices {
  const { search_context_cost_per_query: costs } = entry;
  const price = isObject(costs) ? costs.search_context_size_medium : undefined;
  if (typeof price !== 'number' || price === 0) return {};
  const isByRequest = entry.litellm_provider === 'gemini' && entry.web_search_billing_unit !== 'per_query';
  return { [isByRequest ? 'groundedRequest' : 'webSearch']: price };
}

interface History {
  models_dev: { commit: string; committed_at: string; source: string };
  prices: Record<string, Record<string, { standard?: { rates: Record<string, unknown> }[] }>>;
}
const history = JSON.parse(readFileSync(historyPath, 'utf8')) as History;
const makers = { openai: 'openai', anthropic: 'anthropic', google: 'gemini', xai: 'xai', mistral: 'mistral' };
interface Quoted {
  input: number;
  output?: unknown;
  cachedInput?: unknown;
}

const quoted: Readonly<Record<string, Record<string, Quoted>>> = Object.fromEntries(
  Object.entries(makers).map(([maker, preset]) => [
    preset,
    Object.fromEntries(
      Object.entries(history.prices[maker] ?? {}).flatMap(([name, { standard }]) => {
        const { input, output, cache_read: cachedInput } = standard?.at(-1)?.rates ?? {};
        return typeof input === 'number' ? [[name, { input, output, cachedInput }]] : [];
      }),
    ),
  ]),
);

/** What the two sources disagree on is left out. models.dev quotes one price for models that draw: that of pictures. */
function isDisputed(preset: string, name: string, prices: Prices): boolean {
  const other = quoted[preset]?.[name];
  if (!other || prices.imageOutput !== undefined) return false;
  return (['input', 'output', 'cachedInput'] as const).some((field) => {
    const [price, otherPrice] = [prices[field], other[field]];
    return price !== undefined && typeof otherPrice === 'number' && Math.abs(price - otherPrice) > 1e-6 * price;
  });
}

interface Listed {
  preset: string;
  source: string;
  date: string;
  models: Record<string, Prices>;
}

function modelsOf({ preset, providers, prefix, isMaker }: (typeof services)[number]): Listed[] {
  const known = new Map<string, string>();
  const bySource = new Map<string, Record<string, Prices>>();
  const names = Object.keys(table).filter((name) => providers.includes(String(table[name]?.litellm_provider)));
  const ofBedrock = (name: string) => preset !== 'bedrock' || !name.includes('/');
  // The shortest name of a model comes first; its dated names with the same price are left out.
  for (const name of names.filter(ofBedrock).sort((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    const entry = table[name] ?? {};
    const prices = pricesOf(entry);
    const plain = name.startsWith(prefix) ? name.slice(prefix.length) : name;
    if (!prices || /^(?:\d|low|medium|high|standard|hd|max-x)|-up-to-|-to-\d|-above-|-default$/.test(plain)) continue;
    if (isDisputed(preset, plain, prices)) continue;
    const text = JSON.stringify(prices);
    const { model, date: day, suffixes } = identify(plain);
    const forms = [model, [model, ...suffixes].join('@'), [model, day ?? '', ...suffixes].join('@')];
    const isRegional = preset === 'bedrock' && /^(?!anthropic|amazon|meta)[a-z-]{2,6}\.\w+\./.test(plain);
    if (forms.some((form) => known.get(form) === text)) continue;
    if (!isRegional) known.set(forms[2] ?? model, text);
    const source = typeof entry.source === 'string' ? entry.source : 'as quoted by LiteLLM';
    const models = bySource.get(source) ?? {};
    models[isMaker ? plain : `${preset}/${plain}`] = prices;
    bySource.set(source, models);
  }
  return [...bySource].map(([source, models]) => ({ preset, source, date, models }));
}

const listed = services.flatMap(modelsOf);
const head = {
  version: 3,
  date,
  source: `LiteLLM ${version} (BerriAI/litellm, MIT licence), model_prices_and_context_window_backup.json`,
  made: 'by build/update-prices.ts; prices.json has the units, and what is wrong or missing here',
};
/** A line for each model: small, quick to load, and read only when a price is asked for. */
const lineOf = ([name, prices]: [string, Prices]) =>
  [name, ...Object.entries(prices).map(([field, price]) => `${field}=${price}`)].join(' ');
const lines = listed.map(({ models, ...service }) => ({ ...service, models: Object.entries(models).map(lineOf) }));
writeFileSync(
  join(root, 'server/models/public-prices.json'),
  `${JSON.stringify({ ...head, services: lines }, null, 2)}\n`,
);

/** Real names, with the day of their retirement: all of the makers, and every fifth of other services. */
const makersHere: ReadonlySet<unknown> = new Set(
  services
    .filter(({ preset }) => !['fireworks', 'together', 'bedrock'].includes(preset))
    .flatMap(({ providers }) => providers),
);
const names = Object.entries(table)
  .filter(
    ([, { litellm_provider: provider }], at) =>
      typeof provider === 'string' && (makersHere.has(provider) || at % 5 === 0),
  )
  .filter(([name, { mode }]) => name !== 'sample_spec' && mode !== 'search' && !/\s/.test(name))
  .map(([name, { litellm_provider: provider, mode, deprecation_date: retired }]) =>
    [name, provider, mode ?? '-', retired ?? ''].join(' ').trimEnd(),
  );
writeFileSync(
  join(root, 'test/fixtures/models/names.txt'),
  `# ${head.source}; read on ${date}. Name, service, mode, day of retirement\n${names.join('\n')}\n`,
);

writeFileSync(
  join(root, 'test/fixtures/models/models-dev.json'),
  `${JSON.stringify({ ...history.models_dev, licence: 'MIT, Copyright (c) 2025 models.dev', models: quoted }, null, 1)}\n`,
);
