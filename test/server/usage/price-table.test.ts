import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../server/contract/ledger.ts';
import { createPriceTable } from '../../../server/usage/price-table.ts';
import table from '../../../server/usage/prices.json' with { type: 'json' };

const million = 1_000_000;
const prices = createPriceTable();

describe('the built-in table', () => {
  test('says its version, its date and where it is from', () => {
    expect(table.version).toBe(1);
    expect(table.date).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(table.source.length).toBeGreaterThan(50);
    expect(Object.keys(table.models).length).toBeGreaterThan(60);
  });

  test('has only prices whose unit it explains', () => {
    const explained = new Set(
      'input cachedInput cacheWrite output audioInput audioOutput imageInput imageOutput longContextAbove longContextInput longContextCachedInput longContextCacheWrite longContextOutput second minute characters image request'.split(
        ' ',
      ),
    );
    const units = Object.entries(table.unit).flat().join(' ');
    for (const name of explained) expect(units).toContain(name);
    for (const [model, entry] of Object.entries(table.models)) {
      expect(Object.keys(entry).length, model).toBeGreaterThan(0);
      for (const [name, price] of Object.entries(entry)) {
        expect(explained, `${model} ${name}`).toContain(name);
        expect(price, `${model} ${name}`).toBeGreaterThanOrEqual(0);
      }
    }
  });

  test('has no model that reads from its cache at more than the usual price', () => {
    for (const [model, entry] of Object.entries(table.models)) {
      if ('cachedInput' in entry && 'input' in entry) expect(entry.cachedInput, model).toBeLessThan(entry.input);
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

test('an override takes the place of the entry, for one provider before for all', () => {
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

test('names without end do not fill the memory, and are answered as before', () => {
  for (let index = 0; index < 2_500; index += 1) expect(prices.cost('main', `made-up-${index}`, null)).toBeNull();
  expect(prices.cost('main', 'gpt-4o', { inputTokens: million, outputTokens: 0 })).toBe(2.5);
});
