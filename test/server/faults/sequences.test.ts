/** Courses of failure over minutes, on a clock that is put forward from request to request. */
import { afterEach, expect, test, vi } from 'vitest';
import * as plays from '../../support/fault-plays.ts';
import { healthy, type Play } from '../../support/fault-upstream.ts';
import { isWhole } from '../../support/judge-answer.ts';
import { callNamed, type Pair, startPair } from './pair.ts';

const chat = callNamed('chat/completions');
const secondMs = 1_000;

let pair: Pair | undefined;
/** What the engine's clock is ahead. */
let aheadMs = 0;
afterEach(async () => {
  vi.restoreAllMocks();
  await pair?.stop();
  pair = undefined;
});

async function start(): Promise<Pair> {
  const now = performance.now.bind(performance);
  aheadMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  pair = await startPair({
    retries: 2,
    fallbacks: 1,
    // Not so short that a busy machine makes a healthy one look silent.
    timeouts: { connectMs: 5_000, firstByteMs: 600, firstContentMs: 600, idleMs: 5_000 },
  });
  return pair;
}

/** A request each second for so long; every one of them has its whole answer. Resolves with who gave it, in turn. */
async function steadyTraffic({ ask, fallback }: Pair, seconds: number): Promise<string[]> {
  const answeredBy: string[] = [];
  for (let second = 0; second < seconds; second++) {
    const known = fallback.seen.length;
    const received = await ask(chat);
    const where = `${second} s: ${received.status} ${received.body}`;
    expect(isWhole(chat, received), where).toBe(true);
    answeredBy.push(fallback.seen.length > known ? 'fallback' : 'primary');
    aheadMs += secondMs;
  }
  return answeredBy;
}

test.each([plays.status(503), plays.resetBeforeHeaders, plays.silence, plays.status(429)])(
  'down for a minute with $name: nobody notices, it is left in peace, and it is back within 30 s',
  async (fault) => {
    const running = await start();
    expect(new Set(await steadyTraffic(running, 5))).toEqual(new Set(['primary']));
    running.primary.plays(fault);
    const known = running.primary.seen.length;
    expect(new Set(await steadyTraffic(running, 60))).toEqual(new Set(['fallback']));
    // Sixty requests with two retries each could have been 180 calls.
    expect(running.primary.seen.length - known).toBeLessThan(25);

    running.primary.plays(healthy);
    const after = await steadyTraffic(running, 40);
    expect(after.indexOf('primary'), after.join(' ')).toBeLessThanOrEqual(30);
    expect(after.slice(30)).toEqual(Array(10).fill('primary'));
  },
);

test('one that flaps is asked now and then, and nobody notices', async () => {
  const running = await start();
  for (let round = 0; round < 8; round++) {
    running.primary.plays(plays.status(500));
    await steadyTraffic(running, 5);
    running.primary.plays(healthy);
    await steadyTraffic(running, 5);
  }
  expect(running.primary.seen.length).toBeLessThan(80);
});

test('one that decays slowly is left once it fails more than it answers', async () => {
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
