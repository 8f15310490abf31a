import { EventEmitter } from 'node:events';
import type { PowerMonitor } from 'electron';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchPower } from '../../electron/power.ts';
import { asEmitter } from './double/as-electron.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the watch over power and network', () => {
  it('tells of sleep and resume', () => {
    const powerMonitor = new EventEmitter();
    const { told, stop } = watch(powerMonitor);
    powerMonitor.emit('suspend');
    powerMonitor.emit('resume');
    expect(told()).toBe(2);
    stop();
  });

  it('tells once of each change of the machine’s addresses, until it is stopped', () => {
    const { told, stop, move } = watch(new EventEmitter());
    vi.advanceTimersByTime(60_000);
    expect(told()).toBe(0);
    move('10.0.0.2');
    vi.advanceTimersByTime(60_000);
    expect(told()).toBe(1);
    stop();
    move('10.0.0.3');
    vi.advanceTimersByTime(60_000);
    expect(told()).toBe(1);
  });
});

function watch(powerMonitor: EventEmitter) {
  let addresses = '10.0.0.1';
  let told = 0;
  const stop = watchPower({
    powerMonitor: asEmitter<PowerMonitor>(powerMonitor),
    networkChanged: () => void told++,
    addresses: () => addresses,
  });
  return {
    stop,
    told: () => told,
    move: (next: string) => {
      addresses = next;
    },
  };
}
