/**
 * Reports immediately that the machine sleeps or wakes: connections that the engine kept open may then be dead, and the
 * day may be another. Another network the engine notices by itself.
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
