import { expect, test } from 'vitest';
import { type FaultedRequest, FaultSequence } from '../../../server/faults/fault-sequence.ts';
import { parseRule } from '../../../server/faults/parse-rule.ts';

const chat: FaultedRequest = { model: 'gpt-x', route: '/v1/chat/completions', streams: true };

function names(rules: readonly string[], requests: readonly FaultedRequest[], seed = 1) {
  const sequence = new FaultSequence(rules.map(parseRule), seed);
  return requests.map((request) => sequence.next(request)[0]?.name ?? null);
}

const times = (count: number, request = chat) => Array.from({ length: count }, () => request);

test('rules choose by order: the third request, every second one, the first two', () => {
  expect(names(['quota;nth=3'], times(4))).toEqual([null, null, 'quota', null]);
  expect(names(['reset;every=2'], times(4))).toEqual([null, 'reset', null, 'reset']);
  expect(names(['html;first=2'], times(4))).toEqual(['html', 'html', null, null]);
});

test('every rule counts every request, whether or not its fault is met', () => {
  expect(names(['reset;first=1', 'quota;nth=2', 'html'], times(3))).toEqual(['reset', 'quota', 'html']);
  expect(names(['reset;first=1', 'quota;nth=1', 'html;nth=2'], times(2))).toEqual(['reset', 'html']);
});

test('rules choose by model and route, and count only such requests', () => {
  const other: FaultedRequest = { model: 'claude-y', route: '/v1/messages', streams: false };
  expect(names(['quota;model=gpt-*;nth=2'], [chat, other, chat])).toEqual([null, null, 'quota']);
  expect(names(['quota;route=/messages'], [chat, other])).toEqual([null, 'quota']);
  expect(names(['quota;model=*-y'], [other, { ...other, model: null }])).toEqual(['quota', null]);
  expect(
    names(
      ['quota;model=a*a'],
      [
        { ...chat, model: 'a' },
        { ...chat, model: 'aba' },
      ],
    ),
  ).toEqual([null, 'quota']);
});

test('a fault that only streams can have passes over other requests', () => {
  expect(names(['missing-end'], [{ ...chat, streams: false }, chat])).toEqual([null, 'missing-end']);
});

test('the same seed makes the same choices, and another seed others', () => {
  const rules = ['reset;share=0.3', 'quota;share=0.5'];
  const first = names(rules, times(200), 42);
  expect(names(rules, times(200), 42)).toEqual(first);
  expect(names(rules, times(200), 43)).not.toEqual(first);
});

test('a share is about that share of the requests, whatever the seed', () => {
  for (const seed of [0, 1, 7, 2 ** 31 - 1]) {
    const met = names(['reset;share=0.3'], times(2_000), seed).filter((name) => name !== null).length;
    expect(met).toBeGreaterThan(500);
    expect(met).toBeLessThan(700);
  }
});
