import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identify, isSameModel, purposeOf } from '../../../server/contract/model-identity.ts';
import { leastWorkOf } from '../../support/cpu-work.ts';
import { tries } from '../../support/sweep.ts';

/** All forms of one model, as services and clients write it. */
const forms: Record<string, string[]> = {
  'claude-opus-4-5': [
    'claude-opus-4-5-20251101',
    'claude-opus-4-5@20251101',
    'claude-opus-4-5@default',
    'claude-opus-4.5',
    'Claude-Opus-4-5',
    'claude-4-5-opus',
    'claude-opus-4-5-latest',
    'anthropic/claude-opus-4.5',
    'anthropic/claude-opus-4.5:thinking',
    '~anthropic/claude-opus-4.5',
    'openrouter/anthropic/claude-opus-4.5',
    'anthropic.claude-opus-4-5-20251101-v1:0',
    'us.anthropic.claude-opus-4-5-20251101-v1:0',
    'us-gov.anthropic.claude-opus-4-5-20251101-v1:0',
    'arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-5-20251101-v1:0',
    'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-5-20251101-v1:0',
    'publishers/anthropic/models/claude-opus-4-5',
    'databricks-claude-opus-4-5',
    'ｃｌａｕｄｅ-opus-4-5',
  ],
  'claude-sonnet-3-5': ['claude-3-5-sonnet-20241022', 'claude-3-5-sonnet-v2@20241022', 'anthropic/claude-3.5-sonnet'],
  'claude-opus-4': ['claude-opus-4-0', 'claude-opus-4-20250514', 'claude-4-opus'],
  'gpt-4': ['gpt-4-0613', 'openai/gpt-4'],
  'gpt-3-5-turbo': ['gpt-3.5-turbo-0125', 'gpt-35-turbo'],
  'gpt-5': ['gpt-5-2025-08-07', 'GPT-5', 'azure/openai/gpt-5'],
  'gpt-oss-120b': [
    'openai/gpt-oss-120b:free',
    'openai.gpt-oss-120b-1:0',
    '@cf/openai/gpt-oss-120b',
    'accounts/fireworks/models/gpt-oss-120b',
    'gpt-oss:120b',
  ],
  'gemini-2-5-pro': [
    'gemini-2.5-pro-preview-06-05',
    'gemini-2.5-pro@default',
    'models/gemini-2.5-pro',
    'publishers/google/models/gemini-2.5-pro',
  ],
  'gemini-2-0-flash': ['gemini-2.0-flash-001'],
  'llama-3-3-70b-instruct': [
    'meta.llama3-3-70b-instruct-v1:0',
    'meta-llama/Llama-3.3-70B-Instruct',
    'accounts/fireworks/models/llama-v3p3-70b-instruct',
  ],
  'deepseek-v3-2': ['deepseek.v3.2', 'deepseek-ai/DeepSeek-V3.2'],
};

describe('a model has one identity', () => {
  test.each(Object.entries(forms).flatMap(([model, names]) => names.map((name) => [name, model])))(
    '%s means %s',
    (name, model) => expect(identify(name).model).toBe(model),
  );

  test.each([
    ['gpt-5', 'gpt-5.1'],
    ['gpt-5', 'gpt-5-mini'],
    ['gpt-4', 'gpt-4o'],
    ['gpt-4', 'gpt-4-32k'],
    ['gpt-4', 'gpt-4-1106-preview'],
    ['gpt-4o', 'gpt-4o-search-preview'],
    ['claude-opus-4', 'claude-opus-4-1'],
    ['claude-sonnet-4', 'claude-sonnet-4[1m]'],
    ['mistral-large-2407', 'mistral-large-2512'],
    ['qwen3-235b-a22b', 'qwen3-235b-a22b-2507'],
    ['llama3.2:3b', 'llama3.2:1b'],
    ['text-embedding-004', 'text-embedding-005'],
    ['gemini-embedding-001', 'gemini-embedding-2'],
    ['deepseek-v3', 'deepseek-r1'],
  ])('%s and %s are two models', (one, other) => expect(isSameModel(one, other)).toBe(false));

  test('its parts are told apart', () => {
    expect(identify('us.anthropic.claude-opus-4-5-20251101-v1:0')).toMatchObject({
      ...{ maker: 'anthropic', family: 'claude-opus', version: [4, 5], date: '20251101', suffixes: [] },
      ...{ isPointed: true },
    });
    expect(identify('x-ai/grok-4.20:free')).toMatchObject({ maker: 'xai', version: [4, 20], suffixes: ['free'] });
    expect(identify('ft:gpt-4o-2024-08-06:org::id')).toMatchObject({ family: 'gpt', suffixes: ['ft'], version: [4] });
    expect(identify('mistral-large-latest')).toMatchObject({ maker: 'mistral', date: null, suffixes: ['latest'] });
    // An application inference profile does not say which model it is for.
    expect(identify('arn:aws:bedrock:us-east-1:1:application-inference-profile/o1abcdef2345').maker).toBeNull();
  });

  test('an identity is the same when it is asked again', () => {
    const name = fc.string({ unit: fc.constantFrom(...'agpt-claude-o4.5:/@[]v10~ ft') });
    fc.assert(
      fc.property(name, (text) => {
        expect(identify(text)).toEqual(identify(text));
      }),
      { numRuns: tries(1_000) },
    );
  });

  test.each(Object.keys(forms))('%s is its own identity', (model) => expect(identify(model).model).toBe(model));

  test('of a name with several tags, each identity of an identity has one less, and the last is its own', () => {
    const name = fc.string({ unit: fc.constantFrom(...'agpt-claude-o4.5:/@[]v10~ ft') });
    const settles = (text: string) => {
      let model = text;
      // Each tag, date or prefix has at least one character.
      for (let steps = 0; steps <= text.length + 1; steps++) {
        const next = identify(model).model;
        if (next === model) return true;
        model = next;
      }
      return false;
    };
    expect(['a', 'a@', 'a@@', 'a@@@'].map((text) => identify(text).model)).toEqual(['a', 'a', 'a@', 'a@@']);
    fc.assert(fc.property(name, settles), { numRuns: tries(1_000) });
  });

  test('long names take no longer than their length', async () => {
    for (const pump of ['-1', '/', ':', '.', '[', '-20', 'a-', 'anthropic.', 'é'])
      expect(await leastWorkOf(() => identify(pump.repeat(100_000)), 30), pump).toBeLessThan(30);
  });

  test('what a model is for is not told by who offers it', () => {
    expect(purposeOf('image-labs/llama-3.3-70b')).toBe('chat');
    expect(purposeOf('us.amazon.titan-embed-text-v2:0')).toBe('embeddings');
    expect(purposeOf('publishers/google/models/veo-3.1')).toBe('videos');
  });
});
