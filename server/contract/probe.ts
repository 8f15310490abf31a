/** The outcome of asking a provider whether it can be used, hop by hop. */
import type { Coded } from './coded.ts';

export const probeSteps = ['dns', 'proxy', 'connection', 'tls', 'base-url', 'credential', 'quota', 'models'] as const;
export type ProbeStepName = (typeof probeSteps)[number];

/** What can be found at a hop; `status` is that of the reply. Nothing of it is a secret or of the reply's text. */
export interface ProbeFindings extends Record<`${ProbeStepName}-passed`, object> {
  'not-reached': object;
  'proxy-looks-up': { host: string };
  'is-address': { host: string };
  'no-proxy': object;
  'not-encrypted': object;
  /** `detail`: what the system, the proxy or TLS said, in English. */
  'way-failed': { detail: string };
  'web-page': { status: number };
  /** `to`: without its query; null where it cannot be read. */
  redirected: { to: string | null };
  'no-model-list': { status: number };
  'not-a-list': object;
  'not-understood': { status: number };
  'list-not-offered': { status: number };
  'credential-wanted': { status: number };
  'credential-refused': { status: number; credential: string };
  'credential-allows-nothing': { status: number; credential: string };
  'no-credential-needed': object;
  'open-to-all': object;
  answered: { status: number };
  'not-so-far': object;
  listed: { models: number };
  'model-not-listed': { model: string; models: number };
}
export type ProbeFinding = Coded<ProbeFindings>;

/** What a person can do about a hop that failed. */
export interface ProbeRemedies {
  'check-host': { host: string };
  'check-proxy': object;
  'use-name-of-certificate': object;
  'check-clock': object;
  'add-authority': object;
  'use-http': object;
  'check-port': object;
  'wait-for-answer': object;
  'check-service': { host: string; port: string };
  'set-base-url': { baseUrl: string };
  'set-base-url-to-target': object;
  'check-base-url': object;
  'add-version': object;
  'add-credential': object;
  'check-credential': object;
  pay: object;
  'wait-or-raise-limits': object;
  'try-later': object;
  'check-model': object;
}
export type ProbeRemedy = Coded<ProbeRemedies>;

export interface ProbeStep {
  name: ProbeStepName;
  /** `skipped`: does not apply, or a hop before it failed. */
  status: 'ok' | 'failed' | 'skipped';
  finding: ProbeFinding;
  /** Null where there is nothing to do. */
  remedy: ProbeRemedy | null;
  /** `finding` in English. */
  message: string;
  /** `remedy` in English. */
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
