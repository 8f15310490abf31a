import { type ProbeFinding, type ProbeRemedy, type ProbeStepName, probeSteps } from '../contract/probe.ts';
import type { ResponseHeaders } from '../transport/transport.ts';
import type { ProbeSteps } from './probe-steps.ts';
import type { ModelInfo, Upstream } from './upstream.ts';

/** A provider's response to the request for its models. */
export interface Answer {
  status: number;
  headers: ResponseHeaders;
  isHtml: boolean;
  models: ReadonlyMap<string, ModelInfo> | null;
  /** The credential may not list models. That says nothing about its other rights. */
  mayNotList: boolean;
  /** Another base URL at which an API was found. */
  betterBaseUrl: string | null;
  /** The service also lists its models without a credential. */
  isOpenToAll: boolean;
}

/** Derives the results for base URL, credential and quota. The caller evaluates the model list itself. */
export function judgeAnswer(steps: ProbeSteps, provider: Upstream, answer: Answer): void {
  const { status } = answer;
  if (answer.mayNotList) skipFrom('credential', steps, { code: 'may-not-list', status });
  else if (!judgeBaseUrl(steps, provider, answer)) return;
  else if (status === 401 || status === 403) refuseCredential(steps, provider, status);
  else if (status === 429 || status === 402)
    steps.fail('quota', { code: 'answered', status }, { code: status === 402 ? 'pay' : 'wait-or-raise-limits' });
  else if (status >= 500) noteFault(steps, status);
  else noteAccepted(steps, provider, answer.isOpenToAll);
}

function noteFault(steps: ProbeSteps, status: number): void {
  for (const name of ['credential', 'quota'] as const) steps.skip(name, { code: 'not-so-far' });
  steps.fail('models', { code: 'answered', status }, { code: 'try-later' });
}

function noteAccepted(steps: ProbeSteps, provider: Upstream, isOpenToAll: boolean): void {
  if (provider.credentials.length === 0) steps.skip('credential', { code: 'no-credential-needed' });
  else if (isOpenToAll) steps.skip('credential', { code: 'open-to-all' });
  steps.passUpTo('quota');
}

/** Whether an API was found. */
function judgeBaseUrl(steps: ProbeSteps, provider: Upstream, answer: Answer): boolean {
  const { status, headers, isHtml, models, betterBaseUrl } = answer;
  const fail = (finding: ProbeFinding) =>
    steps.fail(
      'base-url',
      finding,
      betterBaseUrl === null ? baseUrlRemedy(provider) : { code: 'set-base-url', baseUrl: betterBaseUrl },
    );
  if (isHtml) fail({ code: 'web-page', status });
  else if (status >= 300 && status < 400) {
    const redirectTarget = withoutQuery(headers.location, provider);
    steps.fail('base-url', { code: 'redirected', to: redirectTarget }, { code: 'set-base-url-to-target' });
  } else if (status === 404 || status === 405) {
    if (!provider.discoversModels && betterBaseUrl === null) return withoutList(steps, status);
    fail({ code: 'no-model-list', status });
  } else if (status < 300 && !models) fail({ code: 'not-a-list' });
  else if (status >= 400 && status < 500 && ![401, 402, 403, 429].includes(status))
    fail({ code: 'not-understood', status });
  else return true;
  return false;
}

/**
 * A service with a configured list of models may not serve a list, for example Perplexity at https://api.perplexity.ai.
 */
function withoutList(steps: ProbeSteps, status: number): false {
  skipFrom('base-url', steps, { code: 'list-not-offered', status });
  return false;
}

/** Passes the steps before `first`. That step and the following ones cannot be judged. */
function skipFrom(first: ProbeStepName, steps: ProbeSteps, finding: ProbeFinding): void {
  const from = probeSteps.indexOf(first);
  for (const name of probeSteps.slice(from)) steps.skip(name, finding);
  for (const name of probeSteps.slice(0, from)) steps.pass(name);
}

export function refuseCredential(steps: ProbeSteps, provider: Upstream, status: number): void {
  const credential = provider.credentials[0]?.id;
  if (credential === undefined) {
    steps.fail('credential', { code: 'credential-wanted', status }, { code: 'add-credential' });
    return;
  }
  const code = status === 401 ? 'credential-refused' : 'credential-allows-nothing';
  steps.fail('credential', { code, status, credential }, { code: 'check-credential' });
}

function baseUrlRemedy({ endpoint }: Upstream): ProbeRemedy {
  return { code: /\/v\d/.test(endpoint.basePath) ? 'check-base-url' : 'add-version' };
}

/** Drops the query, which may contain secrets. */
function withoutQuery(location: string | string[] | undefined, { endpoint }: Upstream): string | null {
  const first = Array.isArray(location) ? location[0] : location;
  if (!first || !URL.canParse(first, endpoint.origin)) return null;
  const { origin, pathname } = new URL(first, endpoint.origin);
  return origin + pathname;
}
