import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../server/contract/ledger.ts';
import { createPriceTable, pricesOfServices } from '../../../server/models/price-table.ts';
import table from '../../../server/models/prices.json' with { type: 'json' };
import publicTable from '../../../server/models/public-prices.json' with { type: 'json' };
import { presets } from '../../../server/providers/presets.ts';
import modelsDev from '../../fixtures/models/models-dev.json' with { type: 'json' };

interface Quoted {
  input: number;
  output?: number;
  cachedInput?: number;
}

const million = 1_000_000;
const prices = createPriceTable();

const entries = pricesOfServices();

describe('the built-in table', () => {
  test('says its version and its date, and of each service where its prices are from and of which day', () => {
    for (const { version, date: day, services } of [table, publicTable]) {
      expect(version).toBe(3);
      expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
      for (const { preset, source, date } of services) {
        expect(source.length, preset).toBeGreaterThan(18);
        expect(date, preset).toMatch(/^\d{4}-\d\d-\d\d$/);
        expect(date <= day, preset).toBe(true);
      }
    }
    expect(publicTable.source).toContain('MIT licence');
    expect(entries.length).toBeGreaterThan(1_000);
  });

  test('has only prices whose unit it explains', () => {
    const explained = new Set(
      'input cachedInput cacheWrite cacheWriteOneHour output audioInput audioOutput imageInput imageOutput longContextAbove longContextInput longContextCachedInput longContextCacheWrite longContextCacheWriteOneHour longContextOutput second minute characters image request maxOutput webSearch groundedRequest priorityFactor flexFactor fastFactor'.split(
        ' ',
      ),
    );
    const units = Object.entries(table.unit).flat().join(' ');
    for (const name of explained) expect(units).toContain(name);
    for (const [model, entry] of entries) {
      expect(Object.keys(entry).length, model).toBeGreaterThan(0);
      for (const [name, price] of Object.entries(entry)) {
        expect(explained, `${model} ${name}`).toContain(name);
        expect(price, `${model} ${name}`).toBeGreaterThanOrEqual(0);
      }
    }
  });

  test('keeps by hand only what the public part lacks or gets wrong', () => {
    const quoted = new Map(
      publicTable.services.flatMap(({ models }) => models.map((line) => [line.split(' ')[0], line])),
    );
    for (const [name, amounts] of table.services.flatMap(({ models }) =>
      Object.entries<Record<string, number>>(models),
    )) {
      const line = `${quoted.get(name)} `;
      const isSame = Object.entries(amounts).every(([field, price]) => line.includes(` ${field}=${price} `));
      expect(isSame, name).toBe(false);
    }
  });

  test('agrees with models.dev, but for models that draw, of which that has the price of pictures', () => {
    const compared = Object.entries<Record<string, Quoted>>(modelsDev.models).flatMap(([preset, models]) =>
      Object.entries(models).map(([name, quoted]) => ({ preset, name, quoted })),
    );
    let agreed = 0;
    for (const { preset, name, quoted } of compared) {
      const { entry, amounts } = createPriceTable({}, { presetOf: () => preset }).applied(preset, name) ?? {};
      const isItsOwn = entry === name || entry === `${preset}/${name}`;
      if (!amounts || !isItsOwn || amounts.imageOutput !== undefined || amounts.audioOutput !== undefined) continue;
      for (const field of ['input', 'output', 'cachedInput'] as const) {
        const [price, other] = [amounts[field], quoted[field]];
        if (price === undefined || other === undefined) continue;
        expect(price, `${preset} ${name} ${field}`).toBeCloseTo(other, 4);
        agreed += 1;
      }
    }
    expect(agreed).toBeGreaterThan(300);
  });

  test('has no model that reads from its cache at more than the usual price', () => {
    for (const [model, { input, cachedInput }] of entries) {
      if (cachedInput !== undefined && input !== undefined) expect(cachedInput, model).toBeLessThan(input);
    }
  });

  test('knows each preset that is a service: its prices, or why there are none', () => {
    const priced = [...table.services, ...publicTable.services].map(({ preset }) => preset);
    const known = [...priced, ...Object.keys(table.unpriced)];
    for (const { id } of presets.filter(({ isLocal }) => !isLocal)) expect(known, id).toContain(id);
    for (const id of priced) expect([...presets.map((preset) => preset.id), 'demo'], id).toContain(id);
  });

  test.each([
    [
      'openai',
      ['gpt-6.1-sol', 'gpt-6-astra', 'gpt-6-luna', 'text-embedding-3-small', 'gpt-image-2', 'whisper-1', 'tts-1'],
    ],
    ['anthropic', ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-4-5', 'claude-fable-5-1']],
    ['openrouter', ['openai/gpt-6.1-sol', 'anthropic/claude-opus-4.8', 'google/gemini-3.8-flash', 'x-ai/grok-4.7']],
    ['azure', ['gpt-6-sol', 'gpt-4o']],
    ['gemini', ['gemini-3.8-flash', 'gemini-3.1-pro-preview', 'gemini-embedding-2']],
    ['mistral', ['mistral-large-latest', 'mistral-medium-latest', 'codestral-latest', 'mistral-embed']],
    ['xai', ['grok-4.7', 'grok-4.3', 'grok-imagine-image']],
    ['groq', ['openai/gpt-oss-120b', 'qwen/qwen3.8-27b', 'whisper-large-v3-turbo', 'canopylabs/orpheus-v1-english']],
    ['together', ['moonshotai/Kimi-K3', 'zai-org/GLM-5.3', 'deepseek-ai/DeepSeek-V4-Pro-0813']],
    ['fireworks', ['accounts/fireworks/models/glm-5p3', 'accounts/fireworks/models/deepseek-v4-pro-0813']],
    ['cerebras', ['gpt-oss-120b', 'qwen-3.8-27b']],
  ])('has the current main models of %s', (preset, models) => {
    const named = createPriceTable({}, { presetOf: () => preset });
    const metered = { inputTokens: 1, seconds: 1, characters: 1, images: 1 };
    for (const model of models) {
      const usage = model.includes('embed') ? metered : { ...metered, outputTokens: 1 };
      expect(named.cost('by-another-name', model, usage), model).toBeGreaterThan(0);
    }
  });
});

test.each<[string, string, string, Usage | null, number | null]>([
  ['tokens in and out', 'main', 'gpt-4o', { inputTokens: million, outputTokens: million }, 12.5],
  [
    'cached tokens apart',
    'main',
    'gpt-4o',
    { inputTokens: million, cachedInputTokens: million, outputTokens: 0 },
    1.25,
  ],
  ['a model by its maker', 'openrouter', 'openai/gpt-4o', { inputTokens: million, outputTokens: 0 }, 2.5],
  ['a model by its date', 'main', 'gpt-4o-mini-2024-07-18', { inputTokens: million, outputTokens: 0 }, 0.15],
  ['a dated model with a price of its own', 'main', 'gpt-4o-2024-05-13', { inputTokens: million, outputTokens: 0 }, 5],
  ['maker and date', 'x', 'anthropic/claude-haiku-4-5-20251001', { inputTokens: million, outputTokens: million }, 6],
  [
    'tokens written to the cache',
    'main',
    'claude-haiku-4-5',
    { inputTokens: million, cacheWriteTokens: million, outputTokens: 0 },
    1.25,
  ],
  [
    'tokens written to the cache for an hour',
    'main',
    'claude-haiku-4-5',
    { inputTokens: million, cacheWriteTokens: million, cacheWriteOneHourTokens: million / 2, outputTokens: 0 },
    1.625,
  ],
  [
    'tokens of a long prompt written to the cache for an hour',
    'main',
    'claude-sonnet-4-5',
    { inputTokens: million, cacheWriteTokens: million, cacheWriteOneHourTokens: million, outputTokens: 0 },
    12,
  ],
  ['an embedding', 'main', 'text-embedding-3-small', { inputTokens: million }, 0.02],
  ['a picture whose tokens are not told apart', 'main', 'gpt-image-1', { inputTokens: 0, outputTokens: million }, 40],
  [
    'a picture made of a picture',
    'main',
    'gpt-image-1',
    { inputTokens: 2 * million, imageInputTokens: million, outputTokens: million, imageOutputTokens: million },
    55,
  ],
  [
    'sound turned into text',
    'main',
    'gpt-4o-transcribe',
    { inputTokens: million, audioInputTokens: million, outputTokens: 0 },
    6,
  ],
  ['minutes', 'main', 'whisper-1', { seconds: 90 }, 0.009],
  ['characters', 'main', 'tts-1', { characters: million }, 15],
  ['seconds of video', 'main', 'sora-2', { seconds: 8 }, 0.8],
  ['pictures', 'xai', 'grok-imagine-image', { images: 3 }, 0.06],
  ['a version with a point', 'router', 'anthropic/claude-opus-4.8', { inputTokens: million, outputTokens: 0 }, 5],
  ['one provider only', 'groq', 'llama-3.1-8b-instant', { inputTokens: million, outputTokens: 0 }, 0.05],
  ['the same model of another provider', 'main', 'llama-3.1-8b-instant', { inputTokens: 1, outputTokens: 0 }, null],
  ['what is free of charge', 'main', 'omni-moderation-latest', null, 0],
  ['the demo', 'demo', 'demo-chat', { inputTokens: 5, outputTokens: 5 }, 0],
  ['an unknown model', 'main', 'gpt-x', { inputTokens: 5, outputTokens: 5 }, null],
  ['a local model', 'ollama', 'llama3.2:3b', { inputTokens: 5, outputTokens: 5 }, null],
  ['no usage', 'main', 'gpt-4o', null, null],
  ['a usage without its output', 'main', 'gpt-4o', { inputTokens: 5 }, null],
  ['a usage without its input', 'main', 'gpt-4o', { outputTokens: 5 }, null],
  [
    'cached tokens without a price',
    'main',
    'gpt-5-pro',
    { inputTokens: 9, cachedInputTokens: 1, outputTokens: 0 },
    null,
  ],
  ['sound without a price', 'main', 'gpt-4o', { inputTokens: 9, audioInputTokens: 1, outputTokens: 0 }, null],
  ['speech by characters of a model priced by tokens', 'main', 'gpt-4o-mini-tts', { characters: 100 }, null],
  ['a name that every object has', 'main', 'constructor', { inputTokens: 1, outputTokens: 1 }, null],
])('the cost of %s', (_, provider, model, usage, expected) => {
  const cost = prices.cost(provider, model, usage);
  if (expected === null) expect(cost).toBeNull();
  else expect(cost).toBeCloseTo(expected, 9);
});

test('a long context has its own prices, for the whole request', () => {
  const usage = { inputTokens: 200_000, cachedInputTokens: 100_000, outputTokens: 1_000 };
  expect(prices.cost('main', 'gemini-2.5-pro', usage)).toBeCloseTo(0.1 * 1.25 + 0.1 * 0.125 + 0.01, 9);
  const longer = { ...usage, inputTokens: 200_001 };
  expect(prices.cost('main', 'gemini-2.5-pro', longer)).toBeCloseTo(0.100001 * 2.5 + 0.1 * 0.25 + 0.015, 9);
});

test('a long context without a price for its cached tokens has an unknown cost', () => {
  const usage = { inputTokens: 300_000, cachedInputTokens: 1, outputTokens: 1 };
  expect(prices.cost('main', 'gpt-5.4-pro', usage)).toBeNull();
});

test('an override replaces the entry, one for a provider before one for all', () => {
  const own = createPriceTable({
    'gpt-4o': { input: 1, output: 1 },
    'cheap/gpt-4o': { input: 0.5, output: 0.5 },
    'llama3.2:3b': { request: 0 },
    house: { request: 0.01, input: 1, output: 1 },
  });
  const usage = { inputTokens: million, outputTokens: 0 };
  expect(own.cost('main', 'gpt-4o', usage)).toBe(1);
  expect(own.cost('cheap', 'gpt-4o', usage)).toBe(0.5);
  expect(own.cost('main', 'gpt-4o', { ...usage, cachedInputTokens: 5 })).toBeNull();
  expect(own.cost('ollama', 'llama3.2:3b', null)).toBe(0);
  expect(own.cost('main', 'house', usage)).toBeCloseTo(1.01, 9);
  expect(own.cost('main', 'house', null)).toBeNull();
  expect(own.cost('main', 'gpt-4o-mini', usage)).toBe(0.15);
});

test('a provider is priced as the service it was made from, whatever it is called', () => {
  const usage = { inputTokens: million, outputTokens: 0 };
  const named = createPriceTable(
    { 'work/llama-3.1-8b-instant': { input: 7, output: 7 } },
    { presetOf: (provider) => (provider === 'plain' ? undefined : 'groq') },
  );
  expect(named.cost('home', 'llama-3.1-8b-instant', usage)).toBeCloseTo(0.05, 9);
  expect(named.cost('work', 'llama-3.1-8b-instant', usage)).toBe(7);
  expect(named.cost('plain', 'llama-3.1-8b-instant', usage)).toBeNull();
});

test('an unlimited number of names does not fill the memory, and the answers stay the same', () => {
  for (let index = 0; index < 2_500; index += 1) expect(prices.cost('main', `made-up-${index}`, null)).toBeNull();
  expect(prices.cost('main', 'gpt-4o', { inputTokens: million, outputTokens: 0 })).toBe(2.5);
});

test.each([
  ['us.anthropic.claude-opus-4-5-20251101-v1:0', 5],
  ['arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-5-20251101-v1:0', 5],
  ['Claude-Opus-4-5', 5],
  ['GPT-5', 1.25],
  ['claude-opus-4-5[1m]', 5],
  ['anthropic/claude-opus-4.5:thinking', 5],
  ['openai/gpt-oss-120b:free', 0],
  ['claude-3-5-sonnet-v2@20241022', 3],
  ['gpt-4-0613', 30],
  ['gpt-3.5-turbo-0125', 0.5],
  ['gpt-35-turbo', 0.5],
  ['gemini-2.5-pro-preview-06-05', 1.25],
  ['gemini-2.0-flash-001', 0.1],
  ['gemini-2.5-pro@default', 1.25],
  ['ft:gpt-4o-2024-08-06:org::id', 3.75],
  ['us.amazon.nova-pro-v1:0', null],
  // What is not known stays unknown.
  ['ft:gpt-5-2025-08-07:org::id', null],
  ['gpt-4o-somebody', null],
  ['openai/gpt-4o:online', null],
])('%s has the price of the model that it means', (model, input) => {
  const usage = { inputTokens: 100_000, outputTokens: 0 };
  expect(prices.cost('main', model, usage)).toBe(input === null ? null : input / 10);
});

test('a model on Bedrock has the price of its region, whichever way it is named', () => {
  const named = createPriceTable({}, { presetOf: () => 'bedrock' });
  const cost = (model: string) => named.cost('cloud', model, { inputTokens: million, outputTokens: 0 });
  const profile = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/';
  for (const place of ['', profile]) {
    expect(cost(`${place}us.anthropic.claude-opus-4-5-20251101-v1:0`)).toBe(5.5);
    expect(cost(`${place}global.anthropic.claude-opus-4-5-20251101-v1:0`)).toBe(5);
  }
  expect(cost('us.amazon.nova-pro-v1:0')).toBe(0.8);
});

test('a price of one’s own comes before the built-in ones, in whatever form either is named', () => {
  const own = createPriceTable(
    {
      'gpt-oss-120b': { input: 9, output: 9 },
      'Claude-Opus-4.5': { input: 8, output: 8 },
      'gpt-oss-20b:free': { input: 7, output: 7 },
    },
    { presetOf: () => 'groq' },
  );
  const usage = { inputTokens: million, outputTokens: 0 };
  for (const model of ['openai/gpt-oss-120b', 'gpt-oss-120b', 'openai/gpt-oss-120b:nitro'])
    expect(own.cost('groq', model, usage), model).toBe(9);
  for (const model of [
    'claude-opus-4-5-20251101',
    'us.anthropic.claude-opus-4-5-20251101-v1:0',
    'claude-opus-4-5@default',
  ])
    expect(own.cost('x', model, usage), model).toBe(8);
  expect(own.cost('x', 'openai/gpt-oss-20b:free', usage)).toBe(7);
});

test('a price of one’s own says nothing of the longest answer', () => {
  const own = createPriceTable({ 'claude-opus-4-5': { input: 1, output: 1 }, 'gpt-4o': { input: 1, maxOutput: 5 } });
  expect(own.maxOutput('x', 'claude-opus-4-5')).toBe(64_000);
  expect(own.maxOutput('x', 'gpt-4o')).toBe(5);
});
