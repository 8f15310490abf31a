/** A prompt that comes again and again, faster and faster, on a clock that the test moves; and everything that is not one. */
import { expect, test } from 'vitest';
import { GatewayError } from '../../../server/contract/errors.ts';
import type { RunawayView } from '../../../server/contract/limits.ts';
import { createRunawayGuard } from '../../../server/limits/runaway-guard.ts';

function guardOnClock() {
  const clock = { nowMs: 1_000_000 };
  const told: RunawayView[] = [];
  const state = { isOn: true, fingerprints: 0 };
  const guard = createRunawayGuard({
    clocks: { wallMs: () => clock.nowMs, steadyMs: () => clock.nowMs },
    isOn: () => state.isOn,
    slowed: (runaway) => told.push(runaway),
  });
  /** The error if it is refused. */
  const send = (prompt = 'p', key = 'k'): GatewayError | null => {
    try {
      guard.check({
        key: { id: key, name: key },
        model: 'gpt-x',
        fingerprint() {
          state.fingerprints += 1;
          return prompt;
        },
      });
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  };
  /** So many in ten seconds, evenly; how many were refused. */
  const tenSeconds = (count: number, prompt: (index: number) => string = () => 'p', key = 'k') => {
    let refused = 0;
    for (let index = 0; index < count; index++) {
      if (send(prompt(index), key)) refused += 1;
      clock.nowMs += 10_000 / count;
    }
    if (count === 0) clock.nowMs += 10_000;
    return refused;
  };
  return { guard, clock, told, state, send, tenSeconds };
}

const rising = [10, 20, 30, 40, 50, 60, 70];

test('it is slowed more and more, told once, and lets one through each time', () => {
  const { tenSeconds, told, send, clock, guard } = guardOnClock();
  const refused = rising.map((count) => tenSeconds(count));
  expect(refused.slice(0, 4)).toEqual([0, 0, 0, 0]);
  expect(refused.at(-1)).toBeGreaterThan(60);
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ keyId: 'k', model: 'gpt-x' });
  expect(guard.runaways()).toMatchObject([{ keyId: 'k', refused: refused.reduce((a, b) => a + b, 0) }]);
  const waits: number[] = [];
  for (let round = 0; round < 4; round++) {
    const error = send();
    if (!error) continue;
    expect(error).toMatchObject({ code: 'runaway_slowed' });
    waits.push(error.retryAfterSeconds ?? 0);
    clock.nowMs += (error.retryAfterSeconds ?? 0) * 1_000;
    expect(send()).toBeNull();
  }
  expect(waits.at(-1)).toBe(60);
});

test('other prompts of that key, and that prompt of another key, pass', () => {
  const { tenSeconds, send } = guardOnClock();
  for (const count of rising) tenSeconds(count);
  expect(send()).not.toBeNull();
  expect(send('other')).toBeNull();
  expect(send('p', 'other')).toBeNull();
});

test('it is over when it has been calm for two minutes', () => {
  const { tenSeconds, send, clock, guard } = guardOnClock();
  for (const count of rising) tenSeconds(count);
  clock.nowMs += 121_000;
  expect(guard.runaways()).toEqual([]);
  expect(send()).toBeNull();
  expect(send()).toBeNull();
});

test('a person allows it for an hour', () => {
  const { tenSeconds, guard, clock } = guardOnClock();
  for (const count of rising) tenSeconds(count);
  guard.allow('k');
  expect(guard.runaways()).toEqual([]);
  for (const count of rising) expect(tenSeconds(count)).toBe(0);
  clock.nowMs += 60 * 60_000;
  expect(rising.map((count) => tenSeconds(count)).at(-1)).toBeGreaterThan(0);
});

test('switched off it does nothing', () => {
  const { tenSeconds, state } = guardOnClock();
  state.isOn = false;
  for (const count of rising) expect(tenSeconds(count)).toBe(0);
});

test.each<[string, number[], ((index: number) => string)?]>([
  ['the same at a steady rate, for long', Array.from({ length: 30 }, () => 40)],
  ['the same at a steady rate with some noise', Array.from({ length: 30 }, (_, index) => 30 + ((index * 7) % 5))],
  ['the same very often at once, such as 500 requests of a test', [500, 0, 0, 0, 500, 0]],
  ['a load test in stages', [0, 10_000, 20_000, 40_000, 80_000, 90_000]],
  ['few, even if rising', [1, 2, 3, 5, 7, 9, 11]],
  ['retries that back off', [20, 10, 5, 3, 2, 1]],
  ['a batch of other inputs each time, rising', rising.map((count) => count * 10), (index) => `input ${index}`],
  ['a provider that is down for a while and then answers fast', [10, 10, 1, 0, 1, 40, 40, 40]],
])('%s is left alone', (_, counts, prompt = () => 'p') => {
  const { tenSeconds, told } = guardOnClock();
  let batch = 0;
  for (const count of counts) {
    const label = `${prompt(0) === 'p' ? '' : batch++}`;
    expect(tenSeconds(count, (index) => prompt(index) + label)).toBe(0);
  }
  expect(told).toEqual([]);
});

test('a key that sends slowly is not looked at', () => {
  const { tenSeconds, state } = guardOnClock();
  for (let step = 0; step < 20; step++) tenSeconds(4);
  expect(state.fingerprints).toBe(0);
});
