import { expect, test } from 'vitest';
import { AnswerCache, type CachedAnswer } from '../../../server/cache/answer-cache.ts';
import { kibibyte } from '../../../server/contract/units.ts';

const settings = { generation: 0, maxBytes: 64 * kibibyte };

function answerOf(bytes: number): CachedAnswer {
  return { status: 200, headers: {}, body: Buffer.alloc(bytes), usage: null, costUsd: 0.5, modelServed: null };
}

test('an answer is found until it expires, even after the clock was set back', () => {
  let nowMs = 1_000;
  const group = new AnswerCache(() => nowMs).of('g');
  group.store('a', answerOf(1), settings);
  nowMs = 1_999;
  expect(group.find('a', 1_000)).not.toBeNull();
  nowMs = 2_000;
  expect(group.find('a', 1_000)).toBeNull();
  group.store('a', answerOf(1), settings);
  nowMs = 0;
  expect(group.find('a', 1_000)).toBeNull();
  expect(group.bytes).toBe(0);
});

test('the least recently used answers make room, and one that is too large changes nothing', () => {
  const group = new AnswerCache().of('g');
  for (const key of ['a', 'b', 'c']) group.store(key, answerOf(20 * kibibyte), settings);
  group.find('a', 60_000);
  group.store('d', answerOf(20 * kibibyte), settings);
  group.store('e', answerOf(64 * kibibyte), settings);
  expect(['a', 'b', 'c', 'd', 'e'].filter((key) => group.find(key, 60_000))).toEqual(['a', 'c', 'd']);
  expect(group.bytes).toBeLessThanOrEqual(settings.maxBytes);
});

test('an answer that replaces another one is counted once', () => {
  const group = new AnswerCache().of('g');
  group.store('a', answerOf(10 * kibibyte), settings);
  group.store('a', answerOf(kibibyte), settings);
  expect([group.entries, group.bytes]).toEqual([1, 2 * kibibyte]);
});

test('clearing removes the answers of one group or of all, and those that are still arriving', () => {
  const cache = new AnswerCache();
  const [one, other] = [cache.of('one'), cache.of('other')];
  for (const group of [one, other]) group.store('a', answerOf(1), settings);
  const { generation } = one;
  expect(cache.clear('one')).toEqual({ entries: 1, bytes: kibibyte + 1 });
  one.store('late', answerOf(1), { ...settings, generation });
  expect([one.entries, other.entries]).toEqual([0, 1]);
  expect(cache.clear(null).entries).toBe(1);
});

test('when a group’s cache is turned off, its answers and counts are deleted', () => {
  const cache = new AnswerCache();
  cache.of('g').count('hits', 0.25);
  cache.of('g').store('a', answerOf(1), settings);
  expect(cache.view('g')).toMatchObject({ groupId: 'g', entries: 1, hits: 1, savedUsd: 0.25 });
  cache.keepOnly(new Set(['other']));
  expect(cache.view('g')).toMatchObject({ entries: 0, hits: 0, savedUsd: 0 });
});

test('waiting requests get the answer of the first, and later ones do not', async () => {
  const group = new AnswerCache().of('g');
  const first = group.startFlight('a');
  const second = group.startFlight('a');
  first.land(null);
  expect(group.flight('a')).toBe(second);
  expect(await first.landed).toBeNull();
  second.land(answerOf(3));
  expect(group.flight('a')).toBeNull();
  expect((await second.landed)?.body).toHaveLength(3);
});
