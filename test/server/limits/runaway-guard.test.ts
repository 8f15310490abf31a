/** A prompt that comes again and again, faster and faster, on a clock that the test moves; and everything that is not one. */
import { expect, test } from 'vitest';
import { GatewayError } from '../../../server/contract/errors.ts';
import type { RunawayView } from '../../../server/contract/limits.ts';
import { createRunawayGuard } from '../../../server/limits/runaway-guard.ts';
import { pick, randomNumbers } from '../../support/random-numbers.ts';

const minuteMs = 60_000;

/** A guard, and requests that are answered after a time of their own; events pass in their order on its clock. */
function guardOnClock() {
  const clock = { nowMs: 10 * minuteMs };
  const told: RunawayView[] = [];
  const state = { isOn: true, fingerprints: 0 };
  const guard = createRunawayGuard({
    clocks: { wallMs: () => clock.nowMs, steadyMs: () => clock.nowMs },
    isOn: () => state.isOn,
    slowed: (runaway) => told.push(runaway),
  });
  /** The next one first. */
  const due: { atMs: number; act(): void }[] = [];
  const later = (afterMs: number, act: () => void) => {
    const atMs = clock.nowMs + afterMs;
    due.splice(due.findLastIndex((other) => other.atMs <= atMs) + 1, 0, { atMs, act });
  };
  /** The error if it is refused. */
  const send = ({ prompt = 'p', key = 'k', answeredAfterMs = 0 } = {}): GatewayError | null => {
    try {
      const answered = guard.check({
        key: { id: key, name: key },
        model: 'gpt-x',
        fingerprint() {
          state.fingerprints += 1;
          return prompt;
        },
      });
      if (answered) later(answeredAfterMs, answered);
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  };
  const passUntil = (endMs: number) => {
    while (due[0] && due[0].atMs <= endMs) {
      const next = due.shift();
      clock.nowMs = next?.atMs ?? endMs;
      next?.act();
    }
    clock.nowMs = endMs;
  };
  /** So many, evenly, each answered after two seconds; how many were refused. */
  const minute = (count: number, how: { prompt?: string; key?: string } = {}) => {
    const startMs = clock.nowMs;
    let refused = 0;
    for (let index = 0; index < count; index++) {
      if (send({ ...how, answeredAfterMs: 2_000 })) refused += 1;
      passUntil(startMs + ((index + 1) * minuteMs) / count);
    }
    passUntil(startMs + minuteMs);
    return refused;
  };
  return { guard, clock, told, state, send, minute, later, passUntil };
}

/** Overtakes any load test some day; slowed before. */
const doubling = [60, 120, 240, 480, 960, 1_920];

test('one that doubles each minute is slowed after five, told once, and lets one through each time', () => {
  const { minute, told, send, clock, guard, passUntil } = guardOnClock();
  const refused = doubling.map((count) => minute(count));
  expect(refused.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  expect(refused[5]).toBeGreaterThan(1_900);
  expect(told).toEqual([expect.objectContaining({ keyId: 'k', model: 'gpt-x', requestsPerMinute: 960 })]);
  expect(guard.runaways()).toMatchObject([{ keyId: 'k', refused: refused[5] }]);
  const error = send();
  expect(error).toMatchObject({ code: 'runaway_slowed' });
  passUntil(clock.nowMs + (error?.retryAfterSeconds ?? 0) * 1_000);
  expect(send()).toBeNull();
});

test('the wait before the next that passes doubles up to a minute, for as long as the rate rises', () => {
  const { minute, send, clock, passUntil } = guardOnClock();
  for (const count of doubling) minute(count);
  const passedAtMs: number[] = [];
  // What is refused is sent again at once, and more and more of it.
  for (let step = 0; step < 3 * minuteMs; step += 20) {
    for (let count = 0; count < 2 ** (step / minuteMs); count++) if (!send()) passedAtMs.push(clock.nowMs);
    passUntil(clock.nowMs + 20);
  }
  const gapsMs = passedAtMs.slice(1).map((atMs, index) => atMs - (passedAtMs[index] ?? 0));
  expect(Math.max(...gapsMs)).toBe(minuteMs);
});

test('it is over once it rises no more, though what is refused is sent again and again', () => {
  const { minute, guard } = guardOnClock();
  for (const count of doubling) minute(count);
  // The first minute may still be counted as a rise.
  minute(2_500);
  expect(minute(2_500)).toBe(0);
  expect(guard.runaways()).toEqual([]);
});

test('it is over once it stops', () => {
  const { minute, send, clock, guard, passUntil } = guardOnClock();
  for (const count of doubling) minute(count);
  passUntil(clock.nowMs + minuteMs);
  expect(guard.runaways()).toEqual([]);
  expect(send()).toBeNull();
  expect(send()).toBeNull();
});

test('other prompts of that key, and that prompt of another key, pass', () => {
  const { minute, send } = guardOnClock();
  for (const count of doubling) minute(count);
  expect(send()).not.toBeNull();
  expect(send({ prompt: 'other' })).toBeNull();
  expect(send({ key: 'other' })).toBeNull();
});

test('a person allows it for an hour', () => {
  const { minute, guard, clock, passUntil } = guardOnClock();
  for (const count of doubling) minute(count);
  guard.allow('k');
  expect(guard.runaways()).toEqual([]);
  for (const count of doubling) expect(minute(count)).toBe(0);
  passUntil(clock.nowMs + 60 * minuteMs);
  expect(doubling.map((count) => minute(count)).at(-1)).toBeGreaterThan(0);
});

test('switched off it does nothing', () => {
  const { minute, state } = guardOnClock();
  state.isOn = false;
  for (const count of doubling) expect(minute(count)).toBe(0);
});

test('a key that sends slowly is not looked at', () => {
  const { minute, state } = guardOnClock();
  for (let step = 0; step < 20; step++) minute(24);
  expect(state.fingerprints).toBe(0);
});

type Random = () => number;
/** How long an answer takes, at a moment since the beginning. */
type Answers = (sinceMs: number) => number;

const latencies: ((random: Random) => Answers)[] = [
  (random) => () => 100 + 500 * random(),
  (random) => () => (random() < 0.05 ? 3_000 : 20),
  (random) => () => (random() < 0.03 ? 30_000 : 20),
  (random) => () => [20, 20, 300, 1_000][Math.floor(random() * 4)] ?? 20,
  (random) => () => 2_000 * (0.9 + 0.2 * random()),
  // Down for a while, and then as before.
  (random) => (sinceMs) => (sinceMs % (7 * minuteMs) < 2 * minuteMs ? 10_000 : 150 + 100 * random()),
];

/** Clients that each wait for an answer before they ask again. How many were refused in this time. */
function loops(answers: Answers, startsMs: readonly number[], durationMs: number): number {
  const { send, later, passUntil, clock } = guardOnClock();
  const startMs = clock.nowMs;
  let refused = 0;
  const ask = () => {
    const answeredAfterMs = answers(clock.nowMs - startMs);
    if (send({ answeredAfterMs })) refused += 1;
    later(answeredAfterMs + 1, ask);
  };
  for (const atMs of startsMs) later(atMs, ask);
  passUntil(startMs + durationMs);
  return refused;
}

/** Requests that are sent whether or not the earlier ones are answered, at a rate that changes in stages. */
function stages(random: Random, perSecond: readonly number[], stageMs: number): number {
  const { send, passUntil, clock } = guardOnClock();
  let refused = 0;
  for (const rate of perSecond) {
    const endMs = clock.nowMs + stageMs;
    while (clock.nowMs < endMs) {
      if (send({ answeredAfterMs: 200 + 2_000 * random() })) refused += 1;
      passUntil(clock.nowMs + (500 + 1_000 * random()) / rate);
    }
  }
  return refused;
}

const anyAnswers = (random: Random) => pick(latencies, random)(random);
const spread = (workers: number, overMs: number) =>
  Array.from({ length: workers }, (_, index) => (index * overMs) / workers);

const ordinary: Record<string, (random: Random) => number> = {
  'one client that waits for each answer': (random) => loops(anyAnswers(random), [0], 10 * minuteMs),
  'one client at an upstream that answers faster and faster': () =>
    loops((sinceMs) => 6_000 / 2 ** (sinceMs / minuteMs), [0], 8 * minuteMs),
  'parallel workers, started one by one over a minute': (random) =>
    loops(anyAnswers(random), spread(2 + Math.floor(14 * random()), minuteMs), 7 * minuteMs),
  'workers that join from minute to minute': (random) =>
    loops(anyAnswers(random), spread(16, 8 * minuteMs), 9 * minuteMs),
  'a comparison of 1, 2, 4, 8 and 16 at once': (random) => {
    const startsMs = Array.from({ length: 16 }, (_, index) => Math.ceil(Math.log2(index + 1)) * minuteMs);
    const [offsetMs, answerMs] = [minuteMs * random(), 1_000 + 2_000 * random()];
    return loops(
      () => answerMs * (0.8 + 0.4 * random()),
      startsMs.map((atMs) => atMs + offsetMs),
      5 * minuteMs + offsetMs,
    );
  },
  'a ramp of seconds that then holds its rate': (random) =>
    stages(random, [1, 2, 4, 8, 16, 16, 16, 16, 16, 16], pick([5_000, 10_000, 20_000, 30_000], random)),
  'a load test in steady steps': (random) => stages(random, [2, 4, 6, 8, 10, 12, 14, 16], minuteMs),
  'bursts with pauses': (random) =>
    stages(
      random,
      Array.from({ length: 20 }, () => pick([0.05, 0.2, 20, 40], random)),
      10_000,
    ),
  'a rate that wanders': (random) => {
    let rate = 1;
    const rates = Array.from({ length: 40 }, () => {
      rate = Math.min(20, Math.max(0.2, rate * (0.6 + 0.9 * random())));
      return rate;
    });
    return stages(random, rates, 20_000);
  },
  'a matrix of faults, each cell in a few requests': (random) => {
    const { send, passUntil, clock } = guardOnClock();
    let refused = 0;
    for (let cell = 0; cell < 300; cell++) {
      for (let request = 0; request < 5; request++) if (send({ answeredAfterMs: 3_000 * random() })) refused += 1;
      passUntil(clock.nowMs + 1_000 * random());
    }
    return refused;
  },
};

test.each(Object.entries(ordinary))('%s is never refused', (_, run) => {
  for (let seed = 1; seed <= 8; seed++) expect([seed, run(randomNumbers(seed * 7_919))]).toEqual([seed, 0]);
});

test.each<[string, number[]]>([
  ['steady, for long', Array.from({ length: 15 }, () => 600)],
  ['500 at once', [500, 0, 0, 500, 0]],
  ['few, even if rising', [1, 2, 4, 8, 16, 32, 64]],
  ['a load test', [1_200, 2_400, 4_800, 9_600, 19_200]],
])('%s is left alone', (_, counts) => {
  const { minute, told } = guardOnClock();
  for (const count of counts) expect(minute(count)).toBe(0);
  expect(told).toEqual([]);
});
