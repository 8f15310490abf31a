/**
 * Tells the engine that the machine sleeps or wakes, at once: connections it kept open may lead nowhere then. Another
 * network it notices by itself.
 */
import type { PowerMonitor } from 'electron';

/** Returns what ends it. */
export function watchPower(powerMonitor: Pick<PowerMonitor, 'on' | 'off'>, networkChanged: () => void): () => void {
  powerMonitor.on('suspend', networkChanged);
  powerMonitor.on('resume', networkChanged);
  return () => {
    powerMonitor.off('suspend', networkChanged);
    powerMonitor.off('resume', networkChanged);
  };
}
