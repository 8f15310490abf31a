/**
 * Sequences of failures over minutes, with a clock that is advanced from request to request.
 *
 * @suite long
 */
import { afterEach, expect, test, vi } from 'vitest';
import { secondMs } from '../../../server/contract/units.ts';
import * as plays from '../../support/fault-plays.ts';
import { healthy, isWhole, type Play } from '../../support/fault-upstream.ts';
import type { OpenAiCall } from '../../support/openai-calls.ts';
import { callNamed, type Pair, startPair } from './cells.ts';

const chat = callNamed('chat/completions');

let pair: Pair | undefined;
/** How far the engine's clock has been advanced. */
let aheadMs = 0;
afterEach(async () => {
  vi.restoreAllMocks();
  await pair?.stop();
  pair = undefined;
});

async function start(silenceMs = 600): Promise<Pair> {
  const now = performance.now.bind(performance);
  aheadMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  pair = await startPair({
    retries: 2,
    fallbacks: 1,
    // Long enough that a healthy upstream does not look silent on a busy machine.
    timeouts: { connectMs: 5_000, firstByteMs: silenceMs, firstContentMs: silenceMs, idleMs: 5_000 },
  });
  return pair;
}

/**
 * Sends one request per second for this long. Each gets its complete answer. Resolves with the target that answered
 * each request, in order.
 */
async function steadyTraffic({ ask, fallback }: Pair, seconds: number, call = chat): Promise<string[]> {
  const answeredBy: string[] = [];
  for (let second = 0; second < seconds; second++) {
    const known = fallback.seen.length;
    const received = await ask(call);
    const where = `${second} s: ${received.status} ${received.body}`;
    expect(isWhole(call, received), where).toBe(true);
    answeredBy.push(fallback.seen.length > known ? 'fallback' : 'primary');
    aheadMs += secondMs;
  }
  return answeredBy;
}

const stream = callNamed('chat/completions (stream)');
const embeddings = callNamed('embeddings');
const outages: readonly (readonly [OpenAiCall, Play])[] = [
  ...[plays.status(503), plays.resetBeforeHeaders, plays.silence, plays.status(429)].map(
    (play) => [chat, play] as const,
  ),
  [stream, plays.cutAt({ share: 0.5 })],
  [stream, plays.errorInFirstEvent],
  [embeddings, plays.status(503)],
];

test.each(outages.map(([call, fault]) => [call.name, fault.name, call, fault] as const))(
  '%s, down for a minute with %s: no client notices, it is hardly called, and it is back within 30 s',
  async (_call, _fault, call, fault) => {
    const running = await start();
    expect(new Set(await steadyTraffic(running, 5, call))).toEqual(new Set(['primary']));
    running.primary.plays(fault);
    const known = running.primary.seen.length;
    expect(new Set(await steadyTraffic(running, 60, call))).toEqual(new Set(['fallback']));
    // Sixty requests with two retries each could have caused 180 calls.
    expect(running.primary.seen.length - known).toBeLessThan(25);

    running.primary.plays(healthy);
    const after = await steadyTraffic(running, 40, call);
    expect(after.indexOf('primary'), after.join(' ')).toBeLessThanOrEqual(30);
    expect(after.slice(30)).toEqual(Array(10).fill('primary'));
  },
);

test.each([chat, stream, embeddings])(
  'one that flaps is called now and then, and no client notices: $name',
  async (call) => {
    const running = await start();
    for (let round = 0; round < 8; round++) {
      running.primary.plays(plays.status(500));
      await steadyTraffic(running, 5, call);
      running.primary.plays(healthy);
      await steadyTraffic(running, 5, call);
    }
    expect(running.primary.seen.length).toBeLessThan(80);
  },
);

/** Sends all requests concurrently. Each gets its complete answer. */
async function burst({ ask }: Pair, count: number): Promise<void> {
  const received = await Promise.all(Array.from({ length: count }, () => ask(chat)));
  expect(received.filter((each) => isWhole(chat, each))).toHaveLength(count);
}

test('fifty at once are no more than fifty times what is configured for one that is down', async () => {
  const running = await start(10_000);
  running.primary.plays(plays.status(503));
  await burst(running, 50);
  // One retry at the same target, then the next target.
  expect(running.primary.seen.length).toBeLessThanOrEqual(2 * 50);
  expect(running.fallback.seen).toHaveLength(50);
});

test('of fifty at once, a single one tries whether it has recovered', async () => {
  const running = await start(10_000);
  running.primary.plays(plays.status(503));
  await steadyTraffic(running, 4);
  const known = running.primary.seen.length;
  aheadMs += 20 * secondMs;
  await burst(running, 50);
  expect(running.primary.seen.length - known).toBe(1);
  aheadMs += 20 * secondMs;
  running.primary.plays(healthy);
  await burst(running, 50);
  expect(running.fallback.seen.length).toBeLessThanOrEqual(4 + 2 * 50 - 1);
});

test('one that degrades slowly is no longer used once it fails more often than it answers', async () => {
  const running = await start();
  const decay: Play[] = [];
  for (let share = 0; share <= 10; share++) {
    for (let index = 0; index < 10; index++) decay.push(index < share ? plays.status(502) : healthy);
  }
  const [first = healthy, ...others] = decay;
  running.primary.plays(first, ...others);
  await steadyTraffic(running, 110);
  running.primary.plays(plays.status(502));
  const known = running.primary.seen.length;
  await steadyTraffic(running, 30);
  expect(running.primary.seen.length - known).toBeLessThan(12);
});
