/** The result of testing a provider step by step. */
import type { Coded } from './coded.ts';

export const probeSteps = [
  'dns',
  'proxy',
  'connection',
  'tls',
  'base-url',
  'credential',
  'quota',
  'models',
  'call',
] as const;
export type ProbeStepName = (typeof probeSteps)[number];

/**
 * Possible findings; `status` is the HTTP status. They contain neither secrets nor text of the response, which is in
 * `said`.
 */
export interface ProbeFindings extends Record<`${ProbeStepName}-passed`, object> {
  'not-reached': object;
  'proxy-looks-up': { host: string };
  'is-address': { host: string };
  'no-proxy': object;
  'not-encrypted': object;
  /** `detail`: the error of the system, the proxy or TLS, in English. */
  'way-failed': { detail: string };
  'web-page': { status: number };
  /** `to`: the address without its query; null if it cannot be parsed. */
  redirected: { to: string | null };
  'no-model-list': { status: number };
  'not-a-list': object;
  'list-too-long': { megabytes: number };
  /** `models`: how many are known. */
  'list-cut': { models: number };
  'not-understood': { status: number };
  'list-not-offered': { status: number };
  'may-not-list': { status: number };
  'credential-wanted': { status: number };
  'credential-refused': { status: number; credential: string };
  'credential-allows-nothing': { status: number; credential: string };
  'no-credential-needed': object;
  'open-to-all': object;
  answered: { status: number };
  'not-so-far': object;
  listed: { models: number };
  'model-not-listed': { model: string; models: number };
  'answered-with': { model: string; elapsedMs: number };
  'call-answered': { model: string; status: number };
  'call-not-understood': { model: string };
  /** No model was called, because none is known to cost less than a cent for the call. */
  'call-unpriced': object;
  /** No model was called, because the provider has none for conversations. */
  'call-impossible': object;
}
export type ProbeFinding = Coded<ProbeFindings>;

/** What a person can do about a failed step. */
export interface ProbeRemedies {
  'check-host': { host: string };
  'check-proxy': object;
  'use-name-of-certificate': object;
  'check-clock': object;
  'add-authority': object;
  'use-http': object;
  'check-certificate': object;
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
  'free-descriptors': object;
  'try-later': object;
  'check-model': object;
  'name-models': object;
  'choose-model': object;
}
export type ProbeRemedy = Coded<ProbeRemedies>;

export interface ProbeStep {
  name: ProbeStepName;
  /** `skipped`: does not apply, or an earlier step failed. */
  status: 'ok' | 'failed' | 'skipped';
  finding: ProbeFinding;
  /** Null if there is nothing to do. */
  remedy: ProbeRemedy | null;
  /** `finding` in English. */
  message: string;
  /** `remedy` in English. */
  advice: string | null;
}

export interface ProbeCertificate {
  /** Null if it names none. */
  issuer: string | null;
  /** SHA-256, as `certificate` of a provider takes it. */
  fingerprint: string;
}

export interface ProbeReport {
  provider: string;
  ok: boolean;
  /** The step that failed. */
  failedAt: ProbeStepName | null;
  /** All steps in order. */
  steps: ProbeStep[];
  /** The number of models it lists; null if unknown. */
  modelCount: number | null;
  /** Whether the service lacks `POST /responses` while its configuration does not set `serves`. */
  lacksResponses: boolean;
  /**
   * The model that was called and answered; null if none was, in which case `ok` only means that the models can be
   * listed.
   */
  call: { model: string; elapsedMs: number } | null;
  /** What it showed and was not accepted, if a person may trust it for this provider; null otherwise. */
  certificate: ProbeCertificate | null;
  /** The provider's own description of the failure, without secrets; null if there is none, or nothing failed. */
  said: string | null;
  elapsedMs: number;
}
