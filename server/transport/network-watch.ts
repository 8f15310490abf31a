/**
 * Detects that the machine slept or changed networks, after which kept connections are dead. Node has no event for
 * either, so it polls, which costs a tenth of a millisecond every ten seconds.
 */
import { networkInterfaces } from 'node:os';

interface NetworkWatchPorts {
  changed(): void;
  /** Identifies the network; a different value is a change. */
  look(): string;
}

const lookEveryMs = 10_000;
/** A timer that is late by this much means that the machine slept. */
const sleptMs = 10_000;

/** Returns a function that stops it. */
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

/** All addresses of this machine. */
export function machineAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return new Set(all.map(({ address }) => address));
}
