/**
 * Tests whether a provider can be used, and if not, which step fails and what to do about it. Requests the model list,
 * which is free and takes the same path as a real call; detects whether the provider has the Responses API; and calls a
 * model if that is cheap enough.
 */
import { isIP } from 'node:net';
import { cleanBaseUrl } from '../contract/address.ts';
import { GatewayError } from '../contract/errors.ts';
import type { ProbeCertificate, ProbeRemedy, ProbeReport, ProbeStepName } from '../contract/probe.ts';
import { ResponseTooLong } from '../transport/fetch.ts';
import type { Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { fetchModelList, fetchModelPage, parseJsonBytes, parseModelList, tooLong } from './list-models.ts';
import { isVendorHost } from './presets.ts';
import {
  type Answer,
  judgeAnswer,
  judgeTrial,
  lacksResponses,
  type NoTrial,
  ProbeSteps,
  type Trial,
} from './probe-steps.ts';
import type { ModelInfo, Upstream } from './upstream.ts';

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
