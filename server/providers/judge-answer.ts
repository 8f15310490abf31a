import type { ResponseHeaders } from '../transport/transport.ts';
import type { ProbeSteps } from './probe-steps.ts';
import type { ModelInfo, Upstream } from './upstream.ts';

/** What a provider answered when asked for its models. */
export interface Answer {
  status: number;
  headers: ResponseHeaders;
  isHtml: boolean;
  models: ReadonlyMap<string, ModelInfo> | null;
  /** Base URL under which an API was found in place of the configured one. */
  betterBaseUrl: string | null;
  /** It lists its models without a credential too. */
  isOpenToAll: boolean;
}

/** Says of base URL, credential and quota what the answer tells. The model list itself is judged by the caller. */
export function judgeAnswer(steps: ProbeSteps, provider: Upstream, answer: Answer): void {
  const { status } = answer;
  if (!judgeBaseUrl(steps, provider, answer)) return;
  if (status === 401 || status === 403) refuseCredential(steps, provider, status);
  else if (status === 429 || status === 402) steps.fail('quota', `it answered ${status}`, quotaAdvice(status));
  else if (status >= 500) noteFault(steps, status);
  else noteAccepted(steps, provider, answer.isOpenToAll);
}

function noteFault(steps: ProbeSteps, status: number): void {
  for (const name of ['credential', 'quota'] as const) steps.skip(name, 'the service did not get so far');
  steps.fail('models', `it answered ${status}`, 'The service has a fault of its own. Try again later.');
}

function noteAccepted(steps: ProbeSteps, provider: Upstream, isOpenToAll: boolean): void {
  if (provider.credentials.length === 0) steps.skip('credential', 'none is configured, and it asks for none');
  else if (isOpenToAll) steps.skip('credential', 'the model list is open to all, so the credential was not tested');
  steps.passUpTo('quota');
}

/** Whether an API was found, so that there is more to judge. */
function judgeBaseUrl(steps: ProbeSteps, provider: Upstream, answer: Answer): boolean {
  const { status, headers, isHtml, models, betterBaseUrl } = answer;
  const instead =
    betterBaseUrl === null ? baseUrlAdvice(provider) : `Set the base URL to ${betterBaseUrl}: an API answers there.`;
  if (isHtml) {
    steps.fail('base-url', `a web page answers there (${status}), not an API`, instead);
  } else if (status >= 300 && status < 400) {
    steps.fail(
      'base-url',
      `it redirects to ${withoutQuery(headers.location, provider)}`,
      'Set the base URL to where the API really is.',
    );
  } else if (status === 404 || status === 405) {
    if (!provider.discoversModels && betterBaseUrl === null) return withoutList(steps, status);
    steps.fail('base-url', `there is no model list at this address (${status})`, instead);
  } else if (status < 300 && !models) {
    steps.fail('base-url', 'what answers there is not a list of models', instead);
  } else if (status >= 400 && status < 500 && ![401, 402, 403, 429].includes(status)) {
    steps.fail('base-url', `it does not understand the request for its models (${status})`, instead);
  } else return true;
  return false;
}

/** A service whose models are listed by hand may well have no list of its own. */
function withoutList(steps: ProbeSteps, status: number): false {
  const message = `the service has no model list (${status}), so this cannot be found out without a paid call`;
  steps.passUpTo('tls');
  for (const name of ['base-url', 'credential', 'quota', 'models'] as const) steps.skip(name, message);
  return false;
}

function refuseCredential(steps: ProbeSteps, provider: Upstream, status: number): void {
  const [credential] = provider.credentials;
  if (!credential) {
    steps.fail('credential', `it asks for a credential (${status})`, 'Add a credential to this provider.');
    return;
  }
  const what = status === 401 ? 'does not accept' : 'does not allow anything to';
  const advice = 'Check that it was copied whole, belongs to this service and has not been revoked.';
  steps.fail('credential', `it ${what} the credential "${credential.id}" (${status})`, advice);
}

function quotaAdvice(status: number): string {
  return status === 402
    ? 'The account has to be paid for: look at the billing page of the service.'
    : 'A rate limit or the account’s quota is reached: wait, or look at the limits and the billing page of the service.';
}

function baseUrlAdvice({ endpoint }: Upstream): string {
  return /\/v\d/.test(endpoint.basePath)
    ? 'Check the base URL against the documentation of the service.'
    : 'Check the base URL: with most services it ends in /v1.';
}

/** A query may carry secrets. */
function withoutQuery(location: string | string[] | undefined, { endpoint }: Upstream): string {
  const first = Array.isArray(location) ? location[0] : location;
  if (!first || !URL.canParse(first, endpoint.origin)) return 'another address';
  const { origin, pathname } = new URL(first, endpoint.origin);
  return origin + pathname;
}
