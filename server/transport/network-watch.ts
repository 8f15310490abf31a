/**
 * Notices that the machine slept or is in another network, where nobody tells: kept connections lead nowhere then. Node
 * has no event for either, so it is looked at, which costs a tenth of a millisecond every ten seconds.
 */
import { networkInterfaces } from 'node:os';

interface NetworkWatchPorts {
  changed(): void;
  /** What makes out the surroundings; another value is a change. */
  look(): string;
}

const lookEveryMs = 10_000;
/** A tick that comes so much later by the clock was slept through. */
const sleptMs = 10_000;

/** Returns what ends it. */
export function watchNetwork({ changed, look }: NetworkWatchPorts): () => void {
  let last = look();
  let lastAtMs = Date.now();
  const timer = setInterval(() => {
    const now = look();
    const nowMs = Date.now();
    const hasSlept = nowMs - lastAtMs > lookEveryMs + sleptMs;
    if (hasSlept || now !== last) changed();
    last = now;
    lastAtMs = nowMs;
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

/** All addresses that this machine has now. */
export function machineAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return new Set(all.map(({ address }) => address));
}
