/**
 * Reports when the machine goes to sleep or wakes up. Connections that the engine has kept open may then be dead, and the
 * date may have changed. Changes of the network are detected by the engine itself.
 */
import type { PowerMonitor } from 'electron';

/** Returns a function that stops watching. */
export function watchPower(powerMonitor: Pick<PowerMonitor, 'on' | 'off'>, changed: () => void): () => void {
  powerMonitor.on('suspend', changed);
  powerMonitor.on('resume', changed);
  return () => {
    powerMonitor.off('suspend', changed);
    powerMonitor.off('resume', changed);
  };
}
