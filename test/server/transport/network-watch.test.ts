import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchNetwork } from '../../../server/transport/network-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watch() {
  let surroundings = 'at home';
  const changed = vi.fn();
  const stop = watchNetwork({ changed, readState: () => surroundings });
  return {
    changed,
    stop,
    move: (next: string) => {
      surroundings = next;
    },
  };
}

test('a change of the network is reported once', () => {
  const { changed, stop, move } = watch();
  vi.advanceTimersByTime(60_000);
  expect(changed).not.toHaveBeenCalled();
  move('on the train');
  vi.advanceTimersByTime(60_000);
  expect(changed).toHaveBeenCalledOnce();
  stop();
  move('at work');
  vi.advanceTimersByTime(60_000);
  expect(changed).toHaveBeenCalledOnce();
});

test('a sleep of the machine is noticed by its clock, even on the same network', () => {
  const { changed, stop } = watch();
  vi.advanceTimersByTime(10_000);
  vi.setSystemTime(Date.now() + 600_000);
  vi.advanceTimersByTime(10_000);
  expect(changed).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(60_000);
  expect(changed).toHaveBeenCalledOnce();
  stop();
});
