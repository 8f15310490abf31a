/**
 * Tests whether a provider can be used, and if not, which step fails and what to do about it. Requests the model list,
 * which is free and takes the same path as a real call; detects whether the provider has the Responses API; and calls a
 * model if that is cheap enough.
 */
import { isIP } from 'node:net';
import { cleanBaseUrl } from '../contract/address.ts';
import { formatMessage } from '../contract/coded.ts';
import { GatewayError } from '../contract/errors.ts';
import {
  findingTexts,
  type ProbeCertificate,
  type ProbeFinding,
  type ProbeRemedy,
  type ProbeReport,
  type ProbeStep,
  type ProbeStepName,
  probeSteps,
  remedyTexts,
} from '../contract/probe.ts';
import { ResponseTooLong, readResponse } from '../transport/fetch.ts';
import type { ResponseHeaders, Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { fetchModelList, fetchModelPage, parseJsonBytes, parseModelList, tooLong } from './list-models.ts';
import { isVendorHost } from './presets.ts';
import { type ModelInfo, modelListRequest, type Upstream } from './upstream.ts';

interface ProbeOptions {
  transport: Transport;
  /** A model that the list must contain. */
  model?: string;
  /** Calls one of the models that the provider lists. If absent, no model is called. */
  tryModel?(listedModels: readonly string[]): Promise<Trial | NoTrial>;
  /** The message in an error response, without secrets; null if there is none. */
  wordsOf?(body: Buffer): string | null;
}

/** Does not reject for failures of the provider or the network. */
export async function probeProvider(provider: Upstream, options: ProbeOptions): Promise<ProbeReport> {
  const startedMs = performance.now();
  const steps = new ProbeSteps();
  const { transport } = options;
  const outcome = await ask(provider, transport);
  await noteWay(steps, provider, transport);
  let modelCount: number | null = null;
  let upstreamMessage: string | null = null;
  if (outcome instanceof TransportError) noteFailure(steps, outcome, provider);
  else {
    steps.passUpTo('tls');
    const betterBaseUrl = await findBetterBase(outcome, provider, transport);
    judgeAnswer(steps, provider, {
      ...outcome,
      betterBaseUrl,
      isOpenToAll: await isOpenToAll(outcome, provider, transport),
    });
    if (outcome.models && steps.failedAt === null) {
      modelCount = outcome.models.size;
      noteModels(steps, outcome.models, provider.dialect.hasUnlistedModels ? undefined : options.model);
    }
    if (steps.failedAt !== null) upstreamMessage = options.wordsOf?.(outcome.body) ?? null;
  }
  const listedModels = outcome instanceof TransportError ? null : outcome.models;
  const trial = steps.failedAt === null ? await options.tryModel?.([...(listedModels ?? new Map()).keys()]) : undefined;
  if (trial !== undefined) judgeTrial(steps, provider, trial);
  const isOpen = modelCount !== null && provider.servedWires === null && provider.dialect.serves('openai-responses');
  return {
    provider: provider.id,
    ...steps.report(),
    modelCount,
    certificate: outcome instanceof TransportError ? trustable(outcome, provider) : null,
    lacksResponses: isOpen && (await lacksResponses(provider, transport)),
    ...callResult(trial, upstreamMessage),
    elapsedMs: Math.round(performance.now() - startedMs),
  };
}

function callResult(
  trial: Trial | NoTrial | undefined,
  upstreamMessage: string | null,
): Pick<ProbeReport, 'call' | 'said'> {
  if (trial === undefined || typeof trial === 'string') return { call: null, said: upstreamMessage };
  const { model, outcome, elapsedMs } = trial;
  const hasAnswered = outcome.kind === 'answer' && outcome.status < 400;
  return { call: hasAnswered ? { model, elapsedMs } : null, said: trial.said };
}

type PlainAnswer = Omit<Answer, 'betterBaseUrl' | 'isOpenToAll'> & { body: Buffer };

async function ask(provider: Upstream, transport: Transport): Promise<PlainAnswer | TransportError> {
  try {
    const { status, headers, body } = await fetchModelPage(provider, transport);
    const { read, isRightMissing } = provider.dialect.modelPages;
    const firstPage = status === 200 ? parseModelList(body, provider.id, read) : null;
    const models = firstPage && (await wholeList(firstPage, body, provider, transport));
    const mayNotList = isRightMissing?.(status, body) === true;
    return { status: plainStatus(status, body), headers, isHtml: looksLikeHtml(body), models, body, mayNotList };
  } catch (error) {
    if (error instanceof TransportError) return error;
    // Google did not issue a token for the credential.
    if (error instanceof GatewayError)
      return { status: 401, headers: {}, isHtml: false, models: null, body: Buffer.alloc(0), mayNotList: false };
    throw error;
  }
}

/** Also of the pages that follow. */
async function wholeList(
  firstPage: ReadonlyMap<string, ModelInfo>,
  body: Buffer,
  provider: Upstream,
  transport: Transport,
): Promise<ReadonlyMap<string, ModelInfo>> {
  const { first, after } = provider.dialect.modelPages;
  if (after(parseJsonBytes(body), first) === null) return firstPage;
  const list = await fetchModelList(provider, transport);
  return 'models' in list ? list.models : firstPage;
}

/** Google answers a wrong key with 400 and `"reason": "API_KEY_INVALID"`. */
function plainStatus(status: number, body: Buffer): number {
  return status === 400 && body.includes('API_KEY_INVALID') ? 401 : status;
}

function looksLikeHtml(body: Buffer): boolean {
  return /^\s*<(!doctype|html|head|body)\b/i.test(body.toString('utf8', 0, 500));
}

/** The most common mistakes in a base URL are a missing `/v1` and the address of a call, so others are tried after a failure. */
async function findBetterBase(answer: PlainAnswer, provider: Upstream, transport: Transport): Promise<string | null> {
  const { endpoint } = provider;
  const isRight = !answer.isHtml && (answer.models !== null || [401, 402, 403, 429].includes(answer.status));
  if (isRight) return null;
  const cleaned = cleanBaseUrl(endpoint.origin + endpoint.basePath).slice(endpoint.origin.length);
  const basePaths = cleaned === endpoint.basePath ? [] : [cleaned];
  // The dialects of Anthropic and Gemini add the version themselves.
  const hasVersion = /\/v\d/.test(provider.dialect.address({ ...endpoint, basePath: cleaned }, '', '', null));
  for (const basePath of hasVersion ? basePaths : [...basePaths, `${cleaned}/v1`]) {
    const second = await ask({ ...provider, endpoint: { ...endpoint, basePath } }, transport);
    const isApi = !(second instanceof TransportError) && !second.isHtml && (second.models || second.status === 401);
    if (isApi) return endpoint.origin + basePath;
  }
  return null;
}

/** OpenRouter serves `GET /api/v1/models` without authentication, so its list does not test the credential. */
async function isOpenToAll(answer: PlainAnswer, provider: Upstream, transport: Transport): Promise<boolean> {
  if (!answer.models || provider.credentials.length === 0) return false;
  const second = await ask({ ...provider, credentials: [] }, transport);
  return !(second instanceof TransportError) && second.models !== null;
}

/** Adds the results that follow from the configuration alone. */
async function noteWay(steps: ProbeSteps, { endpoint, proxy }: Upstream, transport: Transport): Promise<void> {
  const { hostname, protocol } = new URL(endpoint.origin);
  const { hops } = await transport.chainTo(endpoint.origin, proxy);
  const isThroughProxy = hops[0] !== null;
  if (isThroughProxy) steps.skip('dns', { code: 'proxy-looks-up', host: hostname });
  else if (isIP(hostname.replace(/^\[(.*)\]$/, '$1'))) steps.skip('dns', { code: 'is-address', host: hostname });
  if (!isThroughProxy) steps.skip('proxy', { code: 'no-proxy' });
  if (protocol === 'http:') steps.skip('tls', { code: 'not-encrypted' });
}

const stepOfFault: Record<TransportError['fault'], ProbeStepName> = {
  dns: 'dns',
  'dns-timeout': 'dns',
  proxy: 'proxy',
  refused: 'connection',
  tls: 'tls',
  timeout: 'connection',
  reset: 'connection',
  aborted: 'connection',
  malformed: 'base-url',
  shortage: 'connection',
};

function noteFailure(steps: ProbeSteps, error: TransportError, { endpoint }: Upstream): void {
  if (error instanceof ResponseTooLong) {
    steps.fail('models', tooLong(error), { code: 'name-models' });
    return;
  }
  const isSilent = error.fault === 'timeout' && error.phase !== 'connect';
  const step = isSilent ? 'base-url' : stepOfFault[error.fault];
  steps.fail(step, { code: 'way-failed', detail: error.message }, remedyFor(error, endpoint.origin, isSilent));
}

function remedyFor(error: TransportError, origin: string, isSilent: boolean): ProbeRemedy {
  const { hostname: host, port, protocol } = new URL(origin);
  switch (error.fault) {
    case 'dns':
    case 'dns-timeout':
      return { code: 'check-host', host };
    case 'proxy':
      return { code: 'check-proxy' };
    case 'tls':
      return tlsRemedy(error.message);
    case 'malformed':
      return { code: 'check-port' };
    case 'shortage':
      return { code: 'free-descriptors' };
    default:
      if (isSilent) return { code: 'wait-for-answer' };
      return { code: 'check-service', host, port: port || (protocol === 'https:' ? '443' : '80') };
  }
}

/** A known service's is never, because whoever shows another one is not that service. */
function trustable({ certificate }: TransportError, { endpoint }: Upstream): ProbeCertificate | null {
  return certificate && !isVendorHost(new URL(endpoint.origin).hostname) ? certificate : null;
}

function tlsRemedy(message: string): ProbeRemedy {
  if (/another certificate than/.test(message)) return { code: 'check-certificate' };
  if (/altnames/.test(message)) return { code: 'use-name-of-certificate' };
  if (/expired|not yet valid/.test(message)) return { code: 'check-clock' };
  return { code: /self.signed|issuer|verify/i.test(message) ? 'add-authority' : 'use-http' };
}

function noteModels(steps: ProbeSteps, models: ReadonlyMap<string, unknown>, model: string | undefined): void {
  if (model === undefined || models.has(model)) steps.pass('models', { code: 'listed', models: models.size });
  else steps.fail('models', { code: 'model-not-listed', model, models: models.size }, { code: 'check-model' });
}

// The steps of a provider's test: what is sent, and what the answers say.

/** Collects the steps of a probe. Steps after the first failure count as not reached. */
class ProbeSteps {
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
interface Answer {
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
function judgeAnswer(steps: ProbeSteps, provider: Upstream, answer: Answer): void {
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
function judgeTrial(steps: ProbeSteps, provider: Upstream, trial: Trial | NoTrial): void {
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
async function lacksResponses(upstream: Upstream, transport: Transport): Promise<boolean> {
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
