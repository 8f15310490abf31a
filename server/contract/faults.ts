/** Faults on purpose: what a client program meets, so that its handling of errors can be tried. */

/** The header with which a client requests faults, and which marks every response that has some. */
export const faultHeader = 'x-sluice-fault';

/** The built-in lists of rules. */
export const faultProfileNames = ['rough', 'rate-limited', 'outage', 'slow', 'flaky-streams'] as const;
export type FaultProfileName = (typeof faultProfileNames)[number];

/** Longest time for which faults can be switched on. */
export const maxFaultMinutes = 24 * 60;

/** Faults for the requests of a group or key that end by themselves. */
export interface TimedFaultsView {
  kind: 'group' | 'key';
  /** Of the group or key. */
  id: string;
  /** Null if rules were given instead. */
  profile: FaultProfileName | null;
  rules: readonly string[];
  /** The same seed makes the same choices again. */
  seed: number;
  /** Unix milliseconds. */
  untilMs: number;
}
