/** Tells the engine that the machine slept or is in another network: connections it kept open lead nowhere then. */
import { networkInterfaces } from 'node:os';
import type { PowerMonitor } from 'electron';

/** Node tells of no change of the network, so it is looked at. */
const lookEveryMs = 10_000;

export interface PowerPorts {
  powerMonitor: Pick<PowerMonitor, 'on'>;
  networkChanged(): void;
  /** In place of this machine's, for tests. */
  addresses?: () => string;
}

/** Returns what ends the looking. */
export function watchPower({ powerMonitor, networkChanged, addresses = ownAddresses }: PowerPorts): () => void {
  powerMonitor.on('suspend', networkChanged);
  powerMonitor.on('resume', networkChanged);
  let last = addresses();
  const timer = setInterval(() => {
    const now = addresses();
    if (now !== last) networkChanged();
    last = now;
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

function ownAddresses(): string {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((each) => !each.internal)
    .map((each) => each.address)
    .sort()
    .join(' ');
}
