import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AwakeTimer, awakeMs, startAwakeClock } from '../../../server/ground/timers.ts';

let nowMs = 0;
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  stop = startAwakeClock();
});
afterEach(() => {
  stop();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function passAwake(durationMs: number): void {
  for (const endMs = nowMs + durationMs; nowMs < endMs; ) {
    nowMs += 100;
    vi.advanceTimersByTime(100);
  }
}

/** Nothing runs during the sleep. Whatever becomes due within the next 100 ms runs afterwards, late. */
function sleep(durationMs: number): void {
  nowMs += durationMs;
  vi.advanceTimersByTime(100);
}

/** The same, but nothing except ticks is due. */
function standStill(durationMs: number): void {
  nowMs += durationMs;
  vi.advanceTimersByTime(durationMs);
}

test('the clock stands still while the program sleeps', () => {
  const beganMs = awakeMs();
  passAwake(10_000);
  expect(awakeMs() - beganMs).toBe(10_000);
  sleep(3_600_000);
  expect(awakeMs() - beganMs).toBe(10_000);
  passAwake(5_000);
  expect(awakeMs() - beganMs).toBe(15_000);
});

test('work that blocks the program for a moment does not count as sleep', () => {
  const beganMs = awakeMs();
  standStill(1_500);
  expect(awakeMs() - beganMs).toBe(1_500);
});

test('without an engine no gap counts as sleep', () => {
  stop();
  const beganMs = awakeMs();
  nowMs += 60_000;
  expect(awakeMs() - beganMs).toBe(60_000);
  stop = startAwakeClock();
  expect(awakeMs() - beganMs).toBe(60_000);
});

test('a timeout fires in time if the machine does not sleep', () => {
  const expired = vi.fn();
  new AwakeTimer(expired, 30_000);
  passAwake(29_900);
  expect(expired).not.toHaveBeenCalled();
  passAwake(100);
  expect(expired).toHaveBeenCalledOnce();
});

test('a timeout during a sleep restarts on waking, and fires once', () => {
  const expired = vi.fn();
  new AwakeTimer(expired, 30_000);
  passAwake(29_900);
  sleep(600_000);
  passAwake(29_000);
  expect(expired).not.toHaveBeenCalled();
  passAwake(60_000);
  expect(expired).toHaveBeenCalledOnce();
});

test('a timeout that is cleared after a sleep does not fire', () => {
  const expired = vi.fn();
  const timer = new AwakeTimer(expired, 30_000);
  passAwake(29_900);
  sleep(600_000);
  timer.clear();
  passAwake(60_000);
  expect(expired).not.toHaveBeenCalled();
});

test('a timeout during which a busy machine stalled for a moment is extended by that moment only', () => {
  const expired = vi.fn();
  new AwakeTimer(expired, 30_000);
  passAwake(10_000);
  standStill(3_000);
  passAwake(19_900);
  expect(expired).not.toHaveBeenCalled();
  passAwake(200);
  expect(expired).toHaveBeenCalledOnce();
});

test('a timeout that is restarted after a sleep has its usual length, and a cleared one does not restart', () => {
  const expired = vi.fn();
  const timer = new AwakeTimer(expired, 30_000);
  passAwake(29_900);
  sleep(40_000);
  passAwake(10_000);
  timer.restart();
  passAwake(29_900);
  expect(expired).not.toHaveBeenCalled();
  passAwake(100);
  expect(expired).toHaveBeenCalledOnce();
  const cleared = new AwakeTimer(expired, 1_000);
  cleared.clear();
  cleared.restart();
  passAwake(5_000);
  expect(expired).toHaveBeenCalledOnce();
});

test('a timeout that is restarted with another length expires after that', () => {
  const expired = vi.fn();
  for (const [first, then] of [
    [30_000, 500],
    [500, 30_000],
    [30_000, 20_000],
  ] as const) {
    expired.mockClear();
    const timer = new AwakeTimer(expired, first);
    passAwake(400);
    timer.restart(then);
    passAwake(then - 100);
    expect(expired).not.toHaveBeenCalled();
    passAwake(100);
    expect(expired).toHaveBeenCalledOnce();
  }
});
