import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { minuteMs } from '../../../../server/contract/units.ts';
import { CaptureSwitch } from '../../../../server/store/rules/capture-switch.ts';

const caller = { key: { id: 'k1', capture: false }, group: { id: 'g1', capture: false, captureOnRequest: true } };

let changes: number;
let locked: boolean;
let captureSwitch: CaptureSwitch;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  changes = 0;
  locked = false;
  captureSwitch = new CaptureSwitch({ isLocked: () => locked, keepsRecent: () => true });
  captureSwitch.onChange(() => changes++);
});
afterEach(() => {
  vi.useRealTimers();
});

test('a timed capture ends by itself and tells so', () => {
  captureSwitch.start({ kind: 'key', id: 'k1' }, minuteMs);
  expect(captureSwitch.causeOf(caller, undefined)).toBe('timed');
  vi.advanceTimersByTime(minuteMs);
  expect(captureSwitch.causeOf(caller, undefined)).toBeNull();
  expect(captureSwitch.timed).toEqual([]);
  expect(changes).toBe(2);
});

test('a timed capture has ended when the machine has slept past its end, before its timer fires', () => {
  captureSwitch.start(null, minuteMs);
  vi.setSystemTime(minuteMs);
  expect(captureSwitch.causeOf(caller, undefined)).toBeNull();
});

test('a timed capture that is started again ends later, and is listed once', () => {
  captureSwitch.start(null, minuteMs);
  vi.advanceTimersByTime(minuteMs / 2);
  captureSwitch.start(null, minuteMs);
  vi.advanceTimersByTime(minuteMs / 2);
  expect(captureSwitch.timed).toEqual([{ kind: 'all', id: null, untilMs: 1.5 * minuteMs, requestsLeft: null }]);
});

test('a capture of the next two requests ends with the second one that it is meant for', () => {
  captureSwitch.start({ kind: 'key', id: 'k1' }, minuteMs, 2);
  expect(captureSwitch.causeOf({ ...caller, key: { id: 'k2', capture: false } }, undefined)).toBeNull();
  expect(captureSwitch.causeOf(caller, undefined)).toBe('timed');
  expect(captureSwitch.timed).toMatchObject([{ requestsLeft: 1 }]);
  expect(captureSwitch.causeOf(caller, undefined)).toBe('timed');
  expect(captureSwitch.timed).toEqual([]);
  expect(captureSwitch.causeOf(caller, undefined)).toBeNull();
  expect(changes).toBe(3);
});

test('a group whose capture a team preset has locked is captured only as the preset says', () => {
  locked = true;
  captureSwitch.start(null, minuteMs);
  expect(captureSwitch.causeOf({ ...caller, key: { id: 'k1', capture: true } }, 'on')).toBeNull();
  expect(captureSwitch.causeOf({ ...caller, group: { ...caller.group, capture: true } }, undefined)).toBe('group');
});

test('a policy that locks capture keeps nothing in memory either', () => {
  const member = { group: { id: 'default', capture: false, captureOnRequest: false } };
  expect(captureSwitch.isRecent(member)).toBe(true);
  locked = true;
  expect(captureSwitch.isRecent(member)).toBe(false);
});
