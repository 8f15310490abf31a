/** The steps of a provider's test: what is sent, and what the answers say. */
import { formatMessage } from '../contract/coded.ts';
import {
  findingTexts,
  type ProbeFinding,
  type ProbeRemedy,
  type ProbeReport,
  type ProbeStep,
  type ProbeStepName,
  probeSteps,
  remedyTexts,
} from '../contract/probe.ts';
import { readResponse } from '../transport/fetch.ts';
import type { ResponseHeaders, Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { type ModelInfo, modelListRequest, type Upstream } from './upstream.ts';

/** Collects the steps of a probe. Steps after the first failure count as not reached. */
export class ProbeSteps {
  readonly #steps = new Map<ProbeStepName, ProbeStep>();
  #failedAt: ProbeStepName | null = null;

  get failedAt(): ProbeStepName | null {
    return this.#failedAt;
  }

  skip(name: ProbeStepName, finding: ProbeFinding): void {
    this.#steps.set(name, stepOf(name, 'skipped', finding));
  }

  pass(name: ProbeStepName, finding: ProbeFinding = { code: `${name}-passed` }): void {
    if (!this.#steps.has(name)) this.#steps.set(name, stepOf(name, 'ok', finding));
  }

  /** Passes the step even if it could not be tested before. */
  confirm(name: ProbeStepName): void {
    this.#steps.set(name, stepOf(name, 'ok', { code: `${name}-passed` }));
  }

  /** Passes all steps up to this one. */
  passUpTo(last: ProbeStepName): void {
    for (const name of probeSteps.slice(0, probeSteps.indexOf(last) + 1)) this.pass(name);
  }

  /** Fails the step, and passes all steps before it. */
  fail(name: ProbeStepName, finding: ProbeFinding, remedy: ProbeRemedy): void {
    for (const before of probeSteps.slice(0, probeSteps.indexOf(name))) this.pass(before);
    this.#steps.set(name, { ...stepOf(name, 'failed', finding), remedy, advice: formatMessage(remedyTexts, remedy) });
    this.#failedAt = name;
  }

  report(): Pick<ProbeReport, 'ok' | 'failedAt' | 'steps'> {
    const notReached = (name: ProbeStepName) => stepOf(name, 'skipped', { code: 'not-reached' });
    const reachedUpTo = this.#failedAt === null ? probeSteps.length : probeSteps.indexOf(this.#failedAt) + 1;
    const steps = probeSteps.map((name, index) =>
      index < reachedUpTo ? (this.#steps.get(name) ?? notReached(name)) : notReached(name),
    );
    return { ok: this.#failedAt === null, failedAt: this.#failedAt, steps };
  }
}

function stepOf(name: ProbeStepName, status: ProbeStep['status'], finding: ProbeFinding): ProbeStep {
  return { name, status, finding, remedy: null, message: formatMessage(findingTexts, finding), advice: null };
}

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

function refuseCredential(steps: ProbeSteps, provider: Upstream, status: number): void {
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

/** A small test call to one model. */
export interface Trial {
  model: string;
  /** `refused`: the credential could not be used to build the request. */
  outcome:
    | { kind: 'answer' | 'no-answer'; status: number }
    | { kind: 'unreachable'; detail: string }
    | { kind: 'refused' };
  elapsedMs: number;
  /** The provider's message about the failure, without secrets. */
  said: string | null;
}

/** Why no call was made. */
export type NoTrial = 'call-unpriced' | 'call-impossible';

/** Derives the result of the call. A refused credential or a used-up quota fails those steps instead. */
export function judgeTrial(steps: ProbeSteps, provider: Upstream, trial: Trial | NoTrial): void {
  if (typeof trial === 'string') {
    steps.skip('call', { code: trial });
    return;
  }
  const { model, outcome, elapsedMs } = trial;
  if (outcome.kind === 'unreachable')
    steps.fail('call', { code: 'way-failed', detail: outcome.detail }, { code: 'try-later' });
  else if (outcome.kind === 'refused') refuseCredential(steps, provider, 401);
  else if (outcome.kind === 'no-answer' || outcome.status >= 400) judgeStatus(steps, provider, model, outcome.status);
  else {
    if (provider.credentials.length > 0) steps.confirm('credential');
    steps.pass('call', { code: 'answered-with', model, elapsedMs });
  }
}

function judgeStatus(steps: ProbeSteps, provider: Upstream, model: string, status: number): void {
  const finding: ProbeFinding = { code: 'call-answered', model, status };
  if (status < 400) steps.fail('call', { code: 'call-not-understood', model }, { code: 'choose-model' });
  else if (status === 401) refuseCredential(steps, provider, status);
  else if (status === 402) steps.fail('quota', finding, { code: 'pay' });
  else if (status === 429) steps.fail('quota', finding, { code: 'wait-or-raise-limits' });
  else if (status === 403 || status === 404) steps.fail('call', finding, { code: 'check-model' });
  else steps.fail('call', finding, { code: status >= 500 ? 'try-later' : 'choose-model' });
}

/** An invalid request body. A service that has the path refuses it, so nothing is generated or billed. */
const noRequest = Buffer.from('[]');

/** Whether the service answers `POST /responses` with 404 or 405, as Ollama before 0.13.3 does. */
export async function lacksResponses(upstream: Upstream, transport: Transport): Promise<boolean> {
  const list = modelListRequest(upstream);
  const headers = {
    ...list.headers,
    'content-type': 'application/json',
    'content-length': String(noRequest.length),
  };
  const path = upstream.dialect.address(upstream.endpoint, '/responses', '', null);
  try {
    const { status } = await readResponse(transport, { ...list, method: 'POST', path, headers, body: noRequest });
    return status === 404 || status === 405;
  } catch (error) {
    if (error instanceof TransportError) return false;
    throw error;
  }
}
