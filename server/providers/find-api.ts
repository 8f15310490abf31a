/**
 * Finds out which API a service speaks, and below which address: lists its models and sends an empty call in each of the
 * APIs that services imitate. An empty call is refused by whoever has it, so that nothing is generated or billed.
 */
import { readServiceAddress } from '../contract/address.ts';
import type { DialectId } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import type { Preset } from '../contract/preset.ts';
import { type CollectedResponse, readResponse } from '../transport/fetch.ts';
import type { Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { isOllama } from './detect-local.ts';
import { fetchModelPage, parseJsonBytes, parseModelList } from './list-models.ts';
import { presets } from './presets.ts';
import { modelListRequest, type Upstream } from './upstream.ts';

export interface FoundApi {
  dialect: DialectId;
  baseUrl: string;
  /** The known service that this is; null for any other. */
  preset: string | null;
  /** Whether it lists its models. Plans for coding tools often serve nothing but the call itself. */
  listsModels: boolean;
}

type ImitatedApi = 'openai' | 'anthropic' | 'gemini';

interface Candidate {
  dialect: ImitatedApi;
  baseUrl: string;
}

interface FindOptions {
  transport: Transport;
  /** The service with its credential, as if it spoke this API. */
  asUpstream(candidate: Candidate): Upstream;
}

/** Null if it speaks none of them, or cannot be reached. */
export async function findApi(address: string, { transport, asUpstream }: FindOptions): Promise<FoundApi | null> {
  const { baseUrl, dialect } = readServiceAddress(address);
  const known = presetAt(baseUrl);
  if (known) return known;
  const [first, ...others] = candidatesFor(baseUrl);
  if (!first) return null;
  const weigh = async (candidate: Candidate) => ({
    ...candidate,
    ...(await weighEvidence(candidate.dialect, asUpstream(candidate), transport)),
  });
  const firstWeighed = await weigh(first);
  if (!firstWeighed.isReached) return null;
  const weighed = [firstWeighed, ...(await Promise.all(others.map(weigh)))].filter(({ weight }) => weight >= 2);
  // Services that speak several: the one whose call was pasted, else the one with the most to show for it.
  const pasted = weighed.filter((candidate) => candidate.dialect === dialect);
  const [best] = (pasted.length > 0 ? pasted : weighed).toSorted((one, other) => other.weight - one.weight);
  if (!best) return null;
  const isOfOllama = best.dialect === 'openai' && (await isOllama(new URL(baseUrl).origin, transport));
  return {
    dialect: best.dialect,
    baseUrl: best.baseUrl,
    preset: isOfOllama ? 'ollama' : null,
    listsModels: best.listsModels,
  };
}

/** In the order in which they win where nothing tells them apart. */
function candidatesFor(baseUrl: string): Candidate[] {
  const hasVersion = /\/v\d/.test(URL.parse(baseUrl)?.pathname ?? '');
  return [
    { dialect: 'openai', baseUrl },
    ...(hasVersion ? [] : [{ dialect: 'openai' as const, baseUrl: `${baseUrl}/v1` }]),
    { dialect: 'anthropic', baseUrl },
    { dialect: 'gemini', baseUrl: hasVersion ? baseUrl : `${baseUrl}/v1beta` },
  ];
}

/** The known service at exactly this address, or at this host if the address is no more than that. */
function presetAt(baseUrl: string): FoundApi | null {
  const service = presets.find((preset) => isAt(preset, baseUrl));
  if (!service) return null;
  const [, path = ''] = /^https?:\/\/[^/]+(.*)$/.exec(service.baseUrl) ?? [];
  const isWhole = new URL(baseUrl).pathname !== '/';
  return {
    dialect: service.dialect,
    baseUrl: isWhole ? baseUrl : baseUrl + path,
    preset: service.id,
    listsModels: true,
  };
}

function isAt({ id, isLocal, baseUrl: template }: Preset, baseUrl: string): boolean {
  if (isLocal || id === 'custom') return false;
  const pattern = (text: string) =>
    new RegExp(
      `^${text
        .split(/\{[^{}]+\}/)
        .map(escapePattern)
        .join('[^/]+')}$`,
      'i',
    );
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]+)(.*)$/.exec(template) ?? [];
  return pattern(template).test(baseUrl) || (!path.includes('{') && pattern(origin).test(baseUrl));
}

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

interface Evidence {
  isReached: boolean;
  weight: number;
  listsModels: boolean;
}

/** Paths of calls that tell whether an API is there. Of Gemini's, the model is a part, so an unknown one says nothing. */
const callPaths: Readonly<Record<ImitatedApi, string | null>> = {
  openai: '/chat/completions',
  anthropic: '/messages',
  gemini: null,
};

async function weighEvidence(api: ImitatedApi, upstream: Upstream, transport: Transport): Promise<Evidence> {
  const path = callPaths[api];
  const [list, call] = await Promise.all([
    orNothing(fetchModelPage(upstream, transport)),
    path === null ? null : orNothing(sendNothing(upstream, path, transport)),
  ]);
  const listsModels = list?.status === 200 && parseModelList(list.body, '') !== null;
  const listWeight = listsModels ? (listStyle(list.body) === api ? 4 : 1) : styleWeight(api, list, 2);
  return { isReached: list !== null, listsModels, weight: listWeight + styleWeight(api, call, 3) };
}

/** What a refusal says: nothing if the path is unknown, most if it is written as this API writes errors. */
function styleWeight(api: ImitatedApi, response: CollectedResponse | null, most: number): number {
  if (!response || response.status === 404 || response.status === 405 || response.status >= 500) return 0;
  const body = parseJsonBytes(response.body);
  if (!isObject(body) && !Array.isArray(body)) return 0;
  return errorStyle(body) === api ? most : most - 1;
}

/** An invalid body, as of `lacksResponses`. */
const noRequest = Buffer.from('[]');

function sendNothing(upstream: Upstream, path: string, transport: Transport): Promise<CollectedResponse> {
  const list = modelListRequest(upstream);
  const headers = {
    ...list.headers,
    'content-type': 'application/json',
    'content-length': String(noRequest.length),
  };
  const address = upstream.dialect.address(upstream.endpoint, path, '', null);
  return readResponse(transport, { ...list, method: 'POST', path: address, headers, body: noRequest });
}

/** Null without a response. */
async function orNothing(response: Promise<CollectedResponse>): Promise<CollectedResponse | null> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof TransportError || error instanceof GatewayError) return null;
    throw error;
  }
}

/** The API whose list of models this is. */
export function listStyle(body: Buffer): ImitatedApi {
  const list = parseJsonBytes(body);
  if (!isObject(list)) return 'openai';
  if (Array.isArray(list.models)) return list.models.some(isGeminiModel) ? 'gemini' : 'openai';
  const isPaged = 'has_more' in list && 'first_id' in list && list.object !== 'list';
  const isTyped = Array.isArray(list.data) && list.data.some((model) => isObject(model) && model.type === 'model');
  return isPaged || isTyped ? 'anthropic' : 'openai';
}

function isGeminiModel(model: unknown): boolean {
  return isObject(model) && typeof model.name === 'string' && model.name.startsWith('models/');
}

function errorStyle(body: unknown): ImitatedApi | null {
  const whole = Array.isArray(body) ? body[0] : body;
  if (!isObject(whole) || !isObject(whole.error)) return null;
  if (whole.type === 'error' && typeof whole.error.type === 'string') return 'anthropic';
  return typeof whole.error.status === 'string' && typeof whole.error.code === 'number' ? 'gemini' : 'openai';
}
