import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { after, every, onTimerFault } from '../../../server/ground/timers.ts';

const faults: unknown[] = [];
let forget = () => {};
beforeEach(() => {
  vi.useFakeTimers();
  faults.length = 0;
  forget = onTimerFault((fault) => faults.push(fault));
});
afterEach(() => {
  forget();
  vi.useRealTimers();
});

const broken = new Error('broken');

test('an exception in a timer is told and ends nothing', () => {
  after(() => {
    throw broken;
  }, 10);
  vi.advanceTimersByTime(10);
  expect(faults).toEqual([broken]);
});

test('a rejection in a timer is told as well', async () => {
  after(() => Promise.reject(broken), 10);
  await vi.advanceTimersByTimeAsync(10);
  expect(faults).toEqual([broken]);
});

test('an interval goes on after an exception, which is told once until it has worked again', async () => {
  const outcomes = ['bad', 'bad', 'bad', 'good', 'bad', 'worse', 'worse'];
  let runs = 0;
  const timer = every(async () => {
    const outcome = outcomes[runs++];
    if (outcome !== 'good') throw new Error(outcome);
  }, 10);
  await vi.advanceTimersByTimeAsync(10 * outcomes.length);
  clearInterval(timer);
  expect(runs).toBe(outcomes.length);
  expect(faults.map(String)).toEqual(['Error: bad', 'Error: bad', 'Error: worse']);
});
