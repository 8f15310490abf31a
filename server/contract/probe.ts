/** The result of testing a provider step by step. */
import type { Coded, TextsOf } from './coded.ts';
import { counted } from './units.ts';

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
interface ProbeFindings extends Record<`${ProbeStepName}-passed`, object> {
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
interface ProbeRemedies {
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

/** English texts of a probe, for the command line and the window. */
export const findingTexts: TextsOf<ProbeFindings> = {
  'dns-passed': () => 'the host name resolves',
  'proxy-passed': () => 'the proxy works',
  'connection-passed': () => 'a connection can be opened',
  'tls-passed': () => 'the connection is secure',
  'base-url-passed': () => 'an API answers there',
  'credential-passed': () => 'the credential is accepted',
  'quota-passed': () => 'no limit reported',
  'models-passed': () => 'it lists its models',
  'not-reached': () => 'not reached',
  'proxy-looks-up': ({ host }) => `the proxy looks up ${host}`,
  'is-address': ({ host }) => `${host} is an address`,
  'no-proxy': () => 'none in use',
  'not-encrypted': () => 'the base URL is http, so nothing is encrypted',
  'way-failed': ({ detail }) => detail,
  'web-page': ({ status }) => `a web page answers there (${status}), not an API`,
  redirected: ({ to }) => `it redirects to ${to ?? 'another address'}`,
  'no-model-list': ({ status }) => `there is no model list at this address (${status})`,
  'not-a-list': () => 'the response is not a list of models',
  'list-too-long': ({ megabytes }) => `its list of models is longer than ${megabytes} MB, which Sluice does not read`,
  'list-cut': ({ models }) =>
    `its list is longer than the ${counted(models, 'model')} that Sluice reads; name the others in the provider’s own list`,
  'not-understood': ({ status }) => `it could not handle the request for its model list (${status})`,
  'list-not-offered': ({ status }) =>
    `the service has no model list (${status}), so this cannot be found out without a paid call`,
  'may-not-list': ({ status }) =>
    `the credential may not list models (${status}); whether it may use them cannot be found out without a paid call`,
  'credential-wanted': ({ status }) => `it requires a credential (${status})`,
  'credential-refused': ({ status, credential }) => `it rejected the credential "${credential}" (${status})`,
  'credential-allows-nothing': ({ status, credential }) =>
    `the credential "${credential}" has no permissions there (${status})`,
  'no-credential-needed': () => 'none is configured, and none is required',
  'open-to-all': () => 'the model list is open to all, so the credential was not tested',
  answered: ({ status }) => `it answered ${status}`,
  'not-so-far': () => 'the test did not get this far',
  listed: ({ models }) => counted(models, 'model'),
  'model-not-listed': ({ model, models }) => `"${model}" is not among its ${counted(models, 'model')}`,
  'call-passed': () => 'a model answers',
  'answered-with': ({ model, elapsedMs }) => `"${model}" answered in ${elapsedMs} ms`,
  'call-answered': ({ model, status }) => `a call to "${model}" was answered with ${status}`,
  'call-not-understood': ({ model }) => `the answer of "${model}" does not fit this API`,
  'call-unpriced': () => 'no model was called: none is known to cost less than a cent',
  'call-impossible': () => 'no model was called: it has no chat model',
};

export const remedyTexts: TextsOf<ProbeRemedies> = {
  'check-host': ({ host }) => `Check the spelling of "${host}" in the base URL, and whether this machine is online.`,
  'check-proxy': () =>
    'Check the proxy’s address, name and password, and whether it may reach this host; or set the provider’s proxy to "direct".',
  'use-name-of-certificate': () => 'The certificate is for another name. Use the host name that it is for.',
  'check-clock': () => 'Check this machine’s clock. If it is right, the service has to renew its certificate.',
  'add-authority': () =>
    'If you trust the issuer (a company’s proxy, your own server), add its certificate to settings.extraCaFiles.',
  'check-certificate': () =>
    'Somebody has renewed it, or answers in its place. Compare the fingerprint with the one that the service’s owner names, and trust the new certificate only if they are equal.',
  'use-http': () => 'Check whether the service speaks https on this port; if not, use http in the base URL.',
  'check-port': () => 'There is no HTTP API on this port. Check the port and scheme of the base URL.',
  'wait-for-answer': () => 'It accepts connections but does not answer. It may be overloaded or still loading a model.',
  'check-service': ({ host, port }) =>
    `Check whether the service is running and listening on ${host}:${port}, and whether a firewall is in the way.`,
  'set-base-url': ({ baseUrl }) => `Set the base URL to ${baseUrl}: an API answers there.`,
  'set-base-url-to-target': () => 'Set the base URL to the address of the API itself.',
  'check-base-url': () => 'Check the base URL against the documentation of the service.',
  'add-version': () => 'Check the base URL: for most services it ends in /v1.',
  'add-credential': () => 'Add a credential to this provider.',
  'check-credential': () => 'Check that it was copied completely, belongs to this service and has not been revoked.',
  pay: () => 'The account needs payment: see the service’s billing page.',
  'wait-or-raise-limits': () =>
    'A rate limit or the account’s quota has been reached: wait, or see the service’s limits and billing pages.',
  'free-descriptors': () =>
    'This machine has no descriptors, ports or memory left. Send fewer requests at a time, or raise its limit on open files (ulimit -n).',
  'try-later': () => 'The service itself has a problem. Try again later.',
  'check-model': () => 'Check the name’s spelling, or whether this credential may use it.',
  'name-models': () => 'Name the models that you use in the provider’s settings, in place of asking for the list.',
  'choose-model': () => 'Test it with another model, or see what the provider said.',
};
