/** Faults on purpose, by which people test how a client program handles errors. */

/** The header by which a client asks for a fault. Every response with a fault has it too. */
export const faultHeader = 'x-sluice-fault';

/** The built-in lists of rules. */
export const faultProfileNames = ['rough', 'rate-limited', 'outage', 'slow', 'flaky-streams'] as const;
export type FaultProfileName = (typeof faultProfileNames)[number];

/** Maximum time for which faults can be switched on. */
export const maxFaultMinutes = 24 * 60;

/** Temporary faults for the requests of a group or key. */
export interface TimedFaultsView {
  kind: 'group' | 'key';
  /** Id of the group or key. */
  id: string;
  /** Null if rules were given instead. */
  profile: FaultProfileName | null;
  rules: readonly string[];
  /** The same seed leads to the same choices. */
  seed: number;
  /** Unix milliseconds. */
  untilMs: number;
}
