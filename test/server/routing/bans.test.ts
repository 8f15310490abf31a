import { expect, test } from 'vitest';
import { asking, none, type Parts, provider } from '../../support/providers.ts';

/** Forms in which a banned model was still answered, and others of the same kinds. */
const forms = [
  'gpt-5-pro',
  'gpt-5-pro-2025-10-06',
  'GPT-5-PRO',
  'one/gpt-5-pro',
  'one/GPT-5-Pro-2025-10-06',
  'vendor/gpt-5-pro',
  'models/gpt-5-pro',
  'publishers/openai/models/gpt-5-pro',
  'openai.gpt-5-pro-v1:0',
  'us.openai.gpt-5-pro-v1:0',
  'arn:aws:bedrock:us-east-1::foundation-model/openai.gpt-5-pro-v1:0',
  'openai/gpt-5-pro:free',
  'openai/gpt-5-pro:thinking',
  'gpt-5-pro[1m]',
  'gpt-5-pro@default',
  'gpt-5-pro-latest',
  '~openai/gpt-5-pro',
  'gpt-5-ｐｒｏ',
  'fast',
];

const one = { providers: [provider('one', ['*'])] };
const aliases = [
  { name: 'fast', targets: [{ provider: 'one', model: 'openai/gpt-5-pro' }] },
  {
    name: 'both',
    targets: [
      { provider: 'one', model: 'GPT-5-pro' },
      { provider: 'one', model: 'gpt-5-mini' },
    ],
  },
];
const banning = (deny: string[], more: Partial<Parts> = {}) =>
  asking({ ...one, aliases, groups: [{ id: 'g', deny }], ...more });

test.each([['gpt-5-pro*'], ['gpt-5-pro'], ['GPT-5-Pro'], ['*5-pro*']])(
  'a ban of %s holds in whatever form the model is asked for',
  (pattern) => {
    const { call, list } = banning([pattern]);
    for (const name of forms) expect(call(name), name).toBe(none);
    expect(list()).not.toContain('fast');
    // Of an alias, what is not banned stays.
    expect(call('both')).toEqual(['one:gpt-5-mini']);
  },
);

test('other models are not banned with it', () => {
  const { call } = banning(['gpt-5-pro', 'claude-opus-4', 'gpt-4o-2024-05-13', 'one/gpt-4.1', 'vendor/qwen']);
  const others = ['gpt-5', 'gpt-5-mini', 'gpt-5.5-pro', 'claude-opus-4-5', 'claude-sonnet-4', 'gpt-4o', 'qwen'];
  for (const name of others) expect(call(name), name).toEqual([`one:${name}`]);
  expect(call('gpt-4o-2024-05-13')).toBe(none);
  expect(call('openai/gpt-4o-2024-05-13')).toBe(none);
  expect(call('claude-opus-4-0')).toBe(none);
  expect(call('vendor/qwen')).toBe(none);
});

test('a ban with an address holds for that provider, by any name', () => {
  const providers = [provider('one', ['gpt-4.1']), provider('two', ['gpt-4.1'])];
  const { call } = banning(['one/gpt-4.1'], { providers, aliases: [] });
  expect(call('gpt-4.1')).toEqual(['two:gpt-4.1']);
  expect(call('one/gpt-4.1')).toBe(none);
  expect(call('two/gpt-4.1')).toEqual(['two:gpt-4.1']);
});

test.each([
  ['café', 'cafe\u0301'],
  ['claude-3-5-sonnet*', 'us.anthropic.claude-3-5-sonnet-20241022-v2:0'],
  ['claude-3*', 'anthropic/claude-3.5-sonnet'],
  ['claude-opus-4.5', 'claude-4-5-opus'],
  ['llama3*', 'meta-llama/Llama-3.3-70B-Instruct'],
  ['gemini-2.5-pro', 'gemini-2.5-pro-preview-06-05'],
  ['*-preview', 'google/gemini-3-pro-preview'],
  ['*:free', 'openai/gpt-oss-120b:free'],
  ['deepseek-v3.2', 'deepseek.v3.2'],
  ['gpt-4*', 'gpt-4-0613'],
])('a ban of %s holds for %s', (pattern, name) => expect(banning([pattern]).call(name)).toBe(none));

test('what is allowed is allowed as it is written', () => {
  const { call } = asking({ ...one, groups: [{ id: 'g', models: ['gpt-5', 'fast'] }], aliases });
  expect(call('gpt-5')).toEqual(['one:gpt-5']);
  expect(call('one/gpt-5')).toEqual(['one:gpt-5']);
  expect(call('fast')).toEqual(['one:openai/gpt-5-pro']);
  for (const name of ['GPT-5', 'vendor/gpt-5', 'gpt-5-2025-08-07']) expect(call(name), name).toBe(none);
});
