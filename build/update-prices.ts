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
import { identify } from '../server/contract/model-identity.ts';
import {
  type ListedPrice,
  type LitellmEntry,
  type LitellmPrices,
  litellmServices,
  readLitellmTable,
} from '../server/control/prices/litellm-table.ts';

const [version = '', date = '', tablePath = '', historyPath = ''] = process.argv.slice(2);
const table = JSON.parse(readFileSync(tablePath, 'utf8')) as Record<string, LitellmEntry>;
const root = join(import.meta.dirname, '..');

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
function isDisputed(preset: string, name: string, prices: LitellmPrices): boolean {
  const other = quoted[preset]?.[name];
  if (!other || prices.imageOutput !== undefined) return false;
  return (['input', 'output', 'cachedInput'] as const).some((field) => {
    const [price, otherPrice] = [prices[field], other[field]];
    return price !== undefined && typeof otherPrice === 'number' && Math.abs(price - otherPrice) > 1e-6 * price;
  });
}

const read = readLitellmTable(table);
const disputed = read.filter(({ preset, model, amounts }) => isDisputed(preset, model, amounts));

interface Listed {
  preset: string;
  source: string;
  date: string;
  models: Record<string, LitellmPrices>;
}

/** The prices of a service by their source, without the dated names of a model that cost what it costs. */
function modelsOf(service: string): Listed[] {
  const known = new Map<string, string>();
  const bySource = new Map<string, Record<string, LitellmPrices>>();
  const isListed = (each: ListedPrice) => each.preset === service && !disputed.includes(each);
  for (const { entry, model: name, source, amounts } of read.filter(isListed)) {
    const text = JSON.stringify(amounts);
    const { model, date: day, suffixes } = identify(name);
    const forms = [model, [model, ...suffixes].join('@'), [model, day ?? '', ...suffixes].join('@')];
    const isRegional = service === 'bedrock' && /^(?!anthropic|amazon|meta)[a-z-]{2,6}\.\w+\./.test(name);
    if (forms.some((form) => known.get(form) === text)) continue;
    if (!isRegional) known.set(forms[2] ?? model, text);
    const page = source ?? 'as quoted by LiteLLM';
    const models = bySource.get(page) ?? {};
    models[entry] = amounts;
    bySource.set(page, models);
  }
  return [...bySource].map(([source, models]) => ({ preset: service, source, date, models }));
}

const listed = litellmServices.flatMap(({ preset }) => modelsOf(preset));
const head = {
  version: 3,
  date,
  source: `LiteLLM ${version} (BerriAI/litellm, MIT licence), model_prices_and_context_window_backup.json`,
  made: 'by build/update-prices.ts; prices.json has the units, and what is wrong or missing here',
};
/** A line for each model: small, quick to load, and read only when a price is asked for. */
const lineOf = ([name, prices]: [string, LitellmPrices]) =>
  [name, ...Object.entries(prices).map(([field, price]) => `${field}=${price}`)].join(' ');
const lines = listed.map(({ models, ...service }) => ({ ...service, models: Object.entries(models).map(lineOf) }));
writeFileSync(
  join(root, 'server/models/public-prices.json'),
  `${JSON.stringify({ ...head, disputed: disputed.map(({ entry }) => entry), services: lines }, null, 2)}\n`,
);

/** Real names, with the day of their retirement: all of the makers, and every fifth of other services. */
const makersHere: ReadonlySet<unknown> = new Set(
  litellmServices
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
