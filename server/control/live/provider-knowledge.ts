/** What is found out about providers by asking them: models, the API that they speak, and how a trial call ends. */

import { isIP } from 'node:net';
import { readError } from '../../apis/core/errors/error-body.ts';
import { errorIn } from '../../apis/core/upstream-error.ts';
import type { TrialCall } from '../../apis/neutral/answers/wire-translation.ts';
import { upstreamTranslations, upstreamWireOf } from '../../apis/translation/translation-registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { purposeOf } from '../../contract/model-identity.ts';
import type { UpstreamWire } from '../../contract/operations.ts';
import type { DetectedServer, Preset } from '../../contract/preset.ts';
import type { ProbeReport } from '../../contract/probe.ts';
import type { ProviderChanges } from '../../contract/provider-commands.ts';
import type { DiscoveryView } from '../../contract/provider-views.ts';
import { redactSecretShapes } from '../../contract/secret-shape.ts';
import type { PriceTable } from '../../models/price-table.ts';
import { detectLocal } from '../../providers/detect-local.ts';
import type { Discovery } from '../../providers/discovery.ts';
import { type FoundApi, findApi } from '../../providers/find-api.ts';
import { readSigned } from '../../providers/list-models.ts';
import { presets } from '../../providers/presets.ts';
import { type NoTrial, probeProvider, type Trial } from '../../providers/probe.ts';
import { modelListRequest, type Upstream } from '../../providers/upstream.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';
import type { OutgoingRequest, Transport } from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';

/** Presets, discovered models, and queries to services. */
export interface ProviderKnowledge {
  presets(): readonly Preset[];
  /** The values of a preset; undefined if there is no preset with this id. */
  preset(id: string): ProviderChanges | undefined;
  localServers(): Promise<DetectedServer[]>;
  /** `model`: the model to call; by default a cheap one. */
  probe(provider: CompiledProvider, model?: string): Promise<ProbeReport>;
  /** The same of a provider that is not added, whose prices are those of its preset. */
  probeNew(provider: CompiledProvider, preset: string | null): Promise<ProbeReport>;
  /** Which API the service at this address speaks; null if that cannot be told. */
  findApi(
    address: string,
    asUpstream: (as: Pick<FoundApi, 'dialect' | 'baseUrl'>) => Upstream,
  ): Promise<FoundApi | null>;
  refreshModels(provider: Upstream): Promise<void>;
  discovery(providerId: string): DiscoveryView;
}

interface ProviderKnowledgePorts {
  transport: Transport;
  discovery: Omit<Discovery, 'onChange'>;
  /** Sluice's own ports, which are skipped. */
  ownPorts(): ReadonlySet<number>;
  prices: Pick<PriceTable, 'cost'>;
}

export function createProviderKnowledge(ports: ProviderKnowledgePorts): ProviderKnowledge {
  const { transport, discovery, ownPorts } = ports;
  return {
    presets: () => presets,
    preset(id) {
      const preset = presets.find((each) => each.id === id);
      if (!preset) return undefined;
      const { name, dialect, baseUrl, models, askUsage } = preset;
      return { preset: id, name, dialect, baseUrl, models, askUsage };
    },
    localServers: () => detectLocal({ transport, ownPorts: ownPorts() }),
    probe: (provider, model) => probeWithCall(provider, { model, pricedAs: provider.id }, ports),
    probeNew: (provider, preset) => probeWithCall(provider, { pricedAs: preset ?? provider.id }, ports),
    findApi: (address, asUpstream) => findApi(address, { transport, asUpstream }),
    async refreshModels(provider) {
      await discovery.refresh(provider);
    },
    discovery(providerId) {
      const { fetchedAt, error, finding } = discovery.state(providerId);
      return { refreshedAt: fetchedAt, problem: error, finding };
    },
  };
}

function probeWithCall(
  provider: CompiledProvider,
  { model: requestedModel, pricedAs }: { model?: string | undefined; pricedAs: string },
  { transport, prices }: ProviderKnowledgePorts,
): Promise<ProbeReport> {
  const price = (model: string) => prices.cost(pricedAs, model, trialUsage);
  return probeProvider(provider, {
    transport,
    wordsOf: (body) => wordsOf(body, provider),
    async tryModel(listedModels) {
      // Azure lists the models that could be deployed, so a configured list is better.
      const candidates = provider.discoversModels ? listedModels : [...provider.models.keys()];
      const chosen =
        requestedModel === undefined ? chooseTrialModel(provider, candidates, price) : { model: requestedModel };
      return typeof chosen === 'string' ? chosen : tryModel(provider, chosen.model, transport);
    },
  });
}

// Makes one small call to a model of a provider, to test whether it really answers. Not used for clients' requests.

/** Long, because a local server may have to load the model from disk. */
const longestTrialMs = 60_000;
/** The lowest `max_output_tokens` that OpenAI's Responses API accepts. */
const maxOutputTokens = 16;
/** Maximum usage of such a call. */
const trialUsage = { inputTokens: 20, outputTokens: maxOutputTokens };
const maxCostUsd = 0.01;
const maxWordsLength = 300;

const prompt = 'Reply with OK.';

/** The price of a trial with a model in US dollars; null if unknown. */
type TrialPrice = (model: string) => number | null;

/**
 * The model to call if the person named none: the cheapest conversation model that costs less than a cent; on a local
 * server, the first one.
 */
export function chooseTrialModel(
  provider: Upstream,
  listedModels: readonly string[],
  price: TrialPrice,
): { model: string } | NoTrial {
  const models = listedModels.filter((model) => purposeOf(model) === 'chat' && wireOf(provider, model) !== null);
  if (models.length === 0) return 'call-impossible';
  const priced = models
    .map((model) => ({ model, costUsd: price(model) ?? (isNearby(provider) ? 0 : maxCostUsd) }))
    .filter(({ costUsd }) => costUsd < maxCostUsd)
    .sort((one, other) => one.costUsd - other.costUsd);
  return priced[0] ?? 'call-unpriced';
}

/** Calls the model once. Does not reject for failures of the provider or the network. */
export async function tryModel(provider: Upstream, model: string, transport: Transport): Promise<Trial | NoTrial> {
  const wire = wireOf(provider, model);
  if (wire === null) return 'call-impossible';
  const startedMs = performance.now();
  const { path, body, answerMember } = upstreamTranslations[wire].trial;
  const call = { path, model, body: body({ model, prompt, maxOutputTokens }), answerMember };
  const outcome = await ask(provider, call, transport);
  return { model, ...outcome, elapsedMs: Math.round(performance.now() - startedMs) };
}

interface AskedTrial extends Pick<TrialCall, 'path' | 'answerMember'> {
  model: string;
  body: Record<string, unknown>;
}

async function ask(
  provider: Upstream,
  call: AskedTrial,
  transport: Transport,
): Promise<Pick<Trial, 'outcome' | 'said'>> {
  try {
    const { status, body } = await readSigned(provider, trialRequest(provider, call), transport);
    // OpenAI's reasoning models refuse the older name of the limit, and other services do not know the newer one.
    if (status === 400 && 'max_tokens' in call.body && body.includes('max_completion_tokens')) {
      const { max_tokens: limit, ...others } = call.body;
      return await ask(provider, { ...call, body: { ...others, max_completion_tokens: limit } }, transport);
    }
    const isAnswer = status < 400 && hasMember(body, call.answerMember);
    const words = isAnswer ? null : wordsOf(body, provider);
    return { outcome: { kind: isAnswer ? 'answer' : 'no-answer', status }, said: words };
  } catch (error) {
    if (error instanceof TransportError) return { outcome: { kind: 'unreachable', detail: error.message }, said: null };
    if (error instanceof GatewayError) return { outcome: { kind: 'refused' }, said: error.message };
    throw error;
  }
}

function trialRequest(provider: Upstream, { path, model, body }: AskedTrial): OutgoingRequest {
  const list = modelListRequest(provider);
  const envelope = provider.dialect
    .hosted?.(model)
    .envelope({ path, headers: { 'content-type': 'application/json' }, isStream: false });
  const sentFields = Object.entries(body).filter(([name]) => !envelope?.omitted.includes(name));
  const bytes = Buffer.from(JSON.stringify({ ...Object.fromEntries(sentFields), ...envelope?.added }));
  return {
    ...list,
    origin: provider.endpoint.origin,
    method: 'POST',
    path: provider.dialect.address(provider.endpoint, envelope?.path ?? path, '', model),
    headers: {
      ...list.headers,
      'content-type': 'application/json',
      ...envelope?.headers,
      'content-length': String(bytes.length),
    },
    body: bytes,
    timeouts: {
      connectMs: provider.timeouts.connectMs,
      firstByteMs: longestTrialMs,
      idleMs: longestTrialMs,
      totalMs: longestTrialMs,
    },
  };
}

function wireOf(provider: Upstream, model: string): UpstreamWire | null {
  return upstreamWireOf({ provider, model }, 'openai-chat', null);
}

function hasMember(body: Buffer, member: string): boolean {
  const value = parsed(body);
  const memberValue = isObject(value) ? value[member] : undefined;
  return (Array.isArray(memberValue) || isObject(memberValue)) && errorIn(value) === null;
}

/** The text of the provider's error response, without credentials; null if there is none. */
function wordsOf(body: Buffer, { credentials }: Upstream): string | null {
  const words = readError(body).error?.message.slice(0, 4 * maxWordsLength) ?? '';
  const secrets = credentials.flatMap(({ headers, signing }) => [
    ...Object.values(headers).map((value) => value.replace(/^Bearer /, '')),
    ...(signing?.secrets ?? []),
  ]);
  const masked = secrets.reduce((text, secret) => (secret ? text.replaceAll(secret, '[redacted]') : text), words);
  return redactSecretShapes(masked).slice(0, maxWordsLength).trim() || null;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

const privateHost =
  /^(localhost|.*\.(localhost|local|lan|internal)|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*)$/;

/** Whether the provider is on this machine or in its network, where a call costs nothing. */
function isNearby({ endpoint }: Upstream): boolean {
  const { hostname } = new URL(endpoint.origin);
  return (
    privateHost.test(hostname) || (isIP(hostname.replace(/^\[|\]$/g, '')) === 6 && /^\[(::1|f[cd])/.test(hostname))
  );
}
