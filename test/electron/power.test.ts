import { EventEmitter } from 'node:events';
import type { PowerMonitor } from 'electron';
import { expect, it } from 'vitest';
import { watchPower } from '../../electron/power.ts';
import { asEmitter } from './double/as-electron.ts';

it('reports sleep and resume, until it is stopped', () => {
  const powerMonitor = new EventEmitter();
  let told = 0;
  const stop = watchPower(asEmitter<PowerMonitor>(powerMonitor), () => void told++);
  powerMonitor.emit('suspend');
  powerMonitor.emit('resume');
  expect(told).toBe(2);
  stop();
  powerMonitor.emit('resume');
  expect(told).toBe(2);
});
