import { describe, expect, it } from 'vitest';
import { conditionsOf, conditionText, readFilterText, withCondition } from '../../../server/contract/request-filter.ts';

describe('a written filter', () => {
  it.each<[text: string, filter: object, words?: string]>([
    [
      'model:gpt-5 status:>=500 cost:>0.05 key:ci text:"gate"',
      { model: 'gpt-5', status: '>=500', cost: '>0.05', keyId: 'ci', search: 'gate' },
    ],
    ['status:4XX', { status: '4xx' }],
    [
      'provider:openai group:default outcome:failed capability:chat',
      { provider: 'openai', groupId: 'default', outcome: 'failed', capability: 'chat' },
    ],
    ['duration:>10s first-byte:<=1.5s tokens:<100', { durationMs: '>10000', firstByteMs: '<=1500', tokens: '<100' }],
    ['duration:>250ms', { durationMs: '>250' }],
    ['duration:<2m', { durationMs: '<120000' }],
    ['cost:>=$1', { cost: '>=1' }],
    ['client:"aider/0.86 (\\"x\\")" model:"a b', { client: 'aider/0.86 ("x")', model: 'a b' }],
    ['range:24h', { range: '24h' }],
    [
      'since:2026-11-20T10:00:00Z until:2026-11-21',
      { sinceMs: Date.UTC(2026, 10, 20, 10), untilMs: Date.UTC(2026, 10, 21) },
    ],
    ['since:2026-11-20 range:7d', { range: '7d' }],
    ['model:a model:b', { model: 'b' }],
    ['the  gate at https://example.com:80/x is "wide open"', {}, 'the gate at https://example.com:80/x is "wide open"'],
    ['rate limit model:gpt-5 model: more', { model: 'gpt-5' }, 'rate limit model: more'],
    ['', {}],
  ])('%s', (text, filter, words = '') => {
    expect(readFilterText(text)).toEqual({ filter, words, wrong: [] });
    const written = conditionsOf(filter).map(conditionText).join(' ');
    expect(readFilterText(written)).toEqual({ filter, words: '', wrong: [] });
  });

  it.each([
    'status:600',
    'status:ok',
    'cost:0.05',
    'cost:>x',
    'duration:10s',
    'outcome:fine',
    'range:2h',
    'since:soon',
    'tokens:>1k',
  ])('has no condition %s', (text) => {
    expect(readFilterText(`${text} x`)).toEqual({ filter: {}, words: 'x', wrong: [text] });
  });

  it('says a range for the times of a link, and keeps what else it holds', () => {
    const filter = { sinceMs: 1, untilMs: 2, model: 'a', sort: 'cost' };
    expect(withCondition(filter, { field: 'range', value: '1h' })).toEqual({ range: '1h', model: 'a', sort: 'cost' });
    expect(withCondition(filter, { field: 'range', value: '2h' })).toBeNull();
  });
});
