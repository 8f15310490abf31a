/**
 * Tells that the machine sleeps or wakes, at once: connections that the engine kept open may lead nowhere then, and the day
 * may be another. Another network the engine notices by itself.
 */
import type { PowerMonitor } from 'electron';

/** Returns what ends it. */
export function watchPower(powerMonitor: Pick<PowerMonitor, 'on' | 'off'>, changed: () => void): () => void {
  powerMonitor.on('suspend', changed);
  powerMonitor.on('resume', changed);
  return () => {
    powerMonitor.off('suspend', changed);
    powerMonitor.off('resume', changed);
  };
}
