/**
 * Detects that the machine slept or changed networks, after which kept connections are dead. Node has no event for
 * either, so it polls, which costs a tenth of a millisecond every ten seconds.
 */
import { networkInterfaces } from 'node:os';
import { isResourceExhaustion } from '../ground/resource-exhaustion.ts';
import { every } from '../ground/timers.ts';

interface NetworkWatchPorts {
  changed(): void;
  /** Identifies the network; a different value is a change. */
  readState(): string;
}

const pollEveryMs = 10_000;
/** A timer that is late by this much means that the machine slept. */
const sleptMs = 10_000;

/** Returns a function that stops it. */
export function watchNetwork({ changed, readState }: NetworkWatchPorts): () => void {
  let lastState = readState();
  let lastAtMs = Date.now();
  const timer = every(() => {
    const state = readState();
    const nowMs = Date.now();
    const hasSlept = nowMs - lastAtMs > pollEveryMs + sleptMs;
    if (hasSlept || state !== lastState) changed();
    lastState = state;
    lastAtMs = nowMs;
  }, pollEveryMs).unref();
  return () => clearInterval(timer);
}

let lastAddresses = new Set<string>();

/** All addresses of this machine; while it has no descriptor left to ask with, those of the last time. */
export function machineAddresses(): Set<string> {
  try {
    const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    lastAddresses = new Set(interfaces.map(({ address }) => address));
  } catch (error) {
    if (!isResourceExhaustion(error)) throw error;
  }
  return lastAddresses;
}
