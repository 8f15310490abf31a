/** The outcome of asking a provider whether it can be used, hop by hop. */

export const probeSteps = ['dns', 'proxy', 'connection', 'tls', 'base-url', 'credential', 'quota', 'models'] as const;
export type ProbeStepName = (typeof probeSteps)[number];

export interface ProbeStep {
  name: ProbeStepName;
  /** `skipped`: does not apply, or a hop before it failed. */
  status: 'ok' | 'failed' | 'skipped';
  /** What was found, for a person; holds no secret and nothing of the reply's text. */
  message: string;
  /** What to do about it; null where there is nothing to do. */
  advice: string | null;
}

export interface ProbeReport {
  provider: string;
  ok: boolean;
  /** The hop that failed. */
  failedAt: ProbeStepName | null;
  /** All of them, in the order of the hops. */
  steps: ProbeStep[];
  /** How many models it lists; null if that was not learnt. */
  modelCount: number | null;
  elapsedMs: number;
}
