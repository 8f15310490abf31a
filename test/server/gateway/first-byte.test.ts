import { afterEach, expect, test } from 'vitest';
import { json } from '../../support/upstream.ts';
import { answer, ask, chat, good, startTwo, streams, type TwoUpstreams } from './two-upstreams.ts';

let both: TwoUpstreams;
afterEach(() => both.stop());

/** `startedAt` is in whole milliseconds. */
const roundedMs = 2;

test('the time to the first byte of a request that a fallback answered includes the failed attempt', async () => {
  both = await startTwo({ retries: 0, fallbacks: 1, timeouts: { firstByteMs: 1_000 } });
  both.one.answer(() => {});
  both.two.answer((_request, response) => json(response, good));
  const { record } = await ask(both);
  const [failed, answering] = record.attempts;
  expect(failed?.totalMs).toBeGreaterThan(answering?.firstByteMs ?? Number.NaN);
  expect(record.firstByteMs).toBeGreaterThanOrEqual((failed?.totalMs ?? Number.NaN) - roundedMs);
  expect(record.firstByteMs).toBeLessThanOrEqual(record.totalMs ?? Number.NaN);
});

test('the time to the first byte of a rescued stream is that of its beginning', async () => {
  both = await startTwo({ retries: 0, fallbacks: 1, timeouts: { idleMs: 1_000 } }, { two: { preset: 'mistral' } });
  const beginning = answer('one', 'Once ', 'upon ', 'a time.').slice(0, 3);
  streams(both.one, beginning, 'stalls');
  streams(both.two, answer('two', 'Once upon a time.'));
  const { record } = await ask(both, chat({}));
  const [begun, continued] = record.attempts;
  expect(continued).toMatchObject({ cause: 'rescue', failure: null });
  const continuedAtMs = (continued?.startedAt ?? Number.NaN) - record.startedAt;
  expect(begun?.totalMs).toBeGreaterThan(begun?.firstByteMs ?? Number.NaN);
  expect(record.firstByteMs).toBeLessThan(continuedAtMs);
});
