import { expect, test } from 'vitest';
import { ToldLimits } from '../../../../server/routing/health/told-limits.ts';

const noon = Date.UTC(2026, 10, 20, 12);
let now = noon;
const told = (...answers: Record<string, string | string[]>[]) => {
  now = noon;
  const limits = new ToldLimits(() => now);
  for (const headers of answers) limits.note('main', 'c1', headers);
  return { limits, own: () => limits.of('main', ['c1', 'c2']) };
};
const at = (ms: number) => new Date(noon + ms).toISOString();

test.each([
  [
    'OpenAI',
    {
      'x-ratelimit-limit-requests': '5000',
      'x-ratelimit-remaining-requests': '4999',
      'x-ratelimit-reset-requests': '12ms',
      'x-ratelimit-limit-tokens': '40000',
      'x-ratelimit-remaining-tokens': '10000',
      'x-ratelimit-reset-tokens': '1m30s',
    },
    { kind: 'tokens', remaining: 10_000, limit: 40_000, resetsAt: noon + 90_000 },
  ],
  [
    'Anthropic',
    {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': at(1_000),
      'anthropic-ratelimit-output-tokens-limit': '8000',
      'anthropic-ratelimit-output-tokens-remaining': '2000',
      'anthropic-ratelimit-output-tokens-reset': at(45_000),
    },
    { kind: 'output-tokens', remaining: 2_000, limit: 8_000, resetsAt: noon + 45_000 },
  ],
  [
    'Azure, which tells no limit',
    { 'x-ratelimit-remaining-requests': '9', 'x-ratelimit-remaining-tokens': '8000' },
    { kind: 'requests', remaining: 9, limit: null, resetsAt: null },
  ],
  [
    'OpenRouter, in Unix milliseconds',
    { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(noon + 20_000) },
    { kind: 'requests', remaining: 0, limit: 20, resetsAt: noon + 20_000 },
  ],
  [
    'the draft of the IETF',
    { 'ratelimit-limit': '100', 'ratelimit-remaining': '60', 'ratelimit-reset': '30' },
    { kind: 'requests', remaining: 60, limit: 100, resetsAt: noon + 30_000 },
  ],
] as const)('what is nearest to its end is told in the words of %s', (_service, headers, limit) => {
  expect(told(headers).own()).toEqual([{ credentialId: 'c1', ...limit }]);
});

test('an answer that tells nothing does not take back what the last one told', () => {
  const { own } = told({ 'x-ratelimit-remaining-requests': '9' }, { 'content-type': 'application/json' });
  expect(own()).toMatchObject([{ remaining: 9 }]);
});

test('a limit that is whole again is not shown, nor one without a reset after a minute', () => {
  const { own } = told({ 'x-ratelimit-remaining-requests': '9', 'x-ratelimit-reset-requests': '5s' });
  now = noon + 5_001;
  expect(own()).toEqual([]);
  const other = told({ 'x-ratelimit-remaining-tokens': '9' });
  now = noon + 60_001;
  expect(other.own()).toEqual([]);
});

test.each([
  { 'x-ratelimit-remaining-requests': '' },
  { 'x-ratelimit-remaining-requests': 'many' },
  { 'x-ratelimit-remaining-requests': '-1' },
  { 'x-ratelimit-remaining-requests': ['1', '2'] },
  { 'x-ratelimit-remaining-tokens': '9'.repeat(8_000) },
])('nothing is made of %j', (headers) => {
  expect(told(headers).own()).toEqual([]);
});

test('a reset that cannot be read is as if none were told', () => {
  const { own } = told({ 'x-ratelimit-remaining-requests': '9', 'x-ratelimit-reset-requests': 'soon' });
  expect(own()).toEqual([{ credentialId: 'c1', kind: 'requests', remaining: 9, limit: null, resetsAt: null }]);
});
