/** Routes of Gemini's API by verb. The URL contains the model and selects streaming. */

import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import {
  type Api,
  type ApiLocation,
  type ListedModel,
  type PassthroughPath,
  plainRoute,
  type Route,
} from '../core/api.ts';
import { presentedKeys } from '../core/requests/client-credentials.ts';
import { passedMethod, passedRoute, unreportedUsage } from '../core/requests/passthrough-route.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { cloudEmbeddings } from '../core/usage/conversation-usage.ts';
import { numberOf, wholeDocument } from '../core/usage/reported-usage.ts';
import type { ExtractedUsage, MeasuredRequest, RequestFormat, RequestView, UsageFormat, Wire } from '../core/wire.ts';
import { geminiAnswer, generateArrayStream, generateContent, generateStream } from './generate.ts';
import { type GeminiField, geminiRequest } from './request.ts';
import { geminiUsage } from './usage.ts';
import { geminiErrorStatus, writeGeminiError } from './write-error.ts';

interface BilledImages<Name extends string> {
  /** The images in an answer; null if it is none. */
  countIn(answer: Record<string, unknown>): number | null;
  /** The number of requested images. */
  requested: (body: MeasuredRequest<Name>) => number;
}

/**
 * Usage of images that are billed by number, in APIs that do not report it. Answers too long to parse count as the
 * requested number.
 */
function imagesUsage<Name extends string>({ countIn, requested }: BilledImages<Name>): UsageFormat<Name> {
  return {
    likely: (body) => ({ images: requested(body) }),
    worst: (body) => ({ images: requested(body) }),
    hints: (body) => ({ images: requested(body) }),
    read(answer, { images: requestedImages }): ExtractedUsage {
      const document = wholeDocument(answer);
      const count = document === null ? null : countIn(document);
      if (count !== null) return { usage: { images: count }, certainty: 'reported', status: null };
      if (document !== null || requestedImages === undefined) return { usage: null, certainty: 'none', status: null };
      return { usage: { images: requestedImages }, certainty: 'estimated', status: null };
    },
    text: null,
  };
}

/** `:embedContent`, and `:batchEmbedContents`, which `@google/genai` calls even for a single text. */
const embedContents: Wire<GeminiField> = {
  name: 'gemini-embeddings',
  operation: 'embeddings',
  request: geminiRequest,
  whole: geminiAnswer(['embedding', 'embeddings'], {
    isNeverLonger: false,
    maxHeldBytes: 8 * 1024 * 1024,
    isNumbers: true,
  }),
  errorName: 'status',
  usage: geminiUsage,
  stream: null,
  rescue: null,
};

/** Google, "Generate images using Imagen": one to four, four by default. */
const maxImages = 4;

const fields = [...geminiRequest.fields, 'parameters'] as const;

type PredictField = (typeof fields)[number];

function requested(body: RequestView<PredictField>): number {
  const parameters = body.field('parameters');
  const count = numberOf(isObject(parameters) ? parameters.sampleCount : undefined);
  return count >= 1 ? Math.min(Math.trunc(count), maxImages) : maxImages;
}

const request: RequestFormat<PredictField> = {
  ...geminiRequest,
  fields,
  answersAsked: requested,
  answersPaid: requested,
};

function countIn({ predictions }: Record<string, unknown>): number | null {
  if (!Array.isArray(predictions)) return null;
  return predictions.filter((each) => isObject(each) && each.bytesBase64Encoded !== undefined).length;
}

/** `:predict`, with which Imagen makes images. */
const predict: Wire<PredictField> = {
  name: 'gemini-predict',
  operation: 'images',
  request,
  whole: geminiAnswer(['predictions'], { isNeverLonger: false, maxHeldBytes: 32 * 1024 * 1024 }),
  errorName: 'status',
  usage: imagesUsage({ countIn, requested }),
  stream: null,
  rescue: null,
};

const geminiPost = { ...plainRoute, method: 'POST', model: 'required', modelIn: 'path', streamIn: 'path' } as const;

const generate = { ...geminiPost, path: '/models/{model}:generateContent', wire: generateContent } as const;
const stream = { ...generate, path: '/models/{model}:streamGenerateContent' } as const;

export const geminiRoutes: readonly Route[] = [
  generate,
  { ...stream, stream: generateArrayStream },
  { ...stream, path: `${stream.path}?alt=sse`, stream: generateStream, unstreamed: generate },
  {
    ...geminiPost,
    path: '/models/{model}:countTokens',
    wire: generateContent,
    isFree: true,
    writeTokenCount: (tokens) => ({ totalTokens: tokens }),
  },
  { ...geminiPost, path: '/models/{model}:predict', wire: predict, purchases: 'all' },
  { ...geminiPost, path: '/models/{model}:embedContent', wire: embedContents },
  { ...geminiPost, path: '/models/{model}:batchEmbedContents', wire: embedContents },
];

const vertexPost = { ...plainRoute, method: 'POST', model: 'required', modelIn: 'path' } as const;

function embeddingsWire(name: string, member: string) {
  const { members, judge } = geminiAnswer([member]);
  return cloudEmbeddings({ name, request: geminiRequest, errorName: 'status', members, judge });
}

/**
 * Embeddings on Vertex AI, which only upstream requests use: newer models by `:embedContent`, which takes one text,
 * others by `:predict`.
 */
export const vertexRoutes: readonly Route[] = [
  { ...vertexPost, path: '/models/{model}:predict', wire: embeddingsWire('vertex-predict', 'predictions') },
  { ...vertexPost, path: '/models/{model}:embedContent', wire: embeddingsWire('vertex-embed-content', 'embedding') },
];

const passthrough: Wire = {
  ...generateContent,
  name: 'gemini-passthrough',
  operation: 'passthrough',
  usage: unreportedUsage,
  stream: null,
};

/** `fileSearchStores`, `auth_tokens`. */
const collection = boundedPattern(/^[a-z]{1,40}(?:[A-Z_][a-z]{1,40}){0,5}$/);
/** The last segment in the decoded path, because an upstream may read it there. */
const idAndVerb = boundedPattern(/^([^:]{0,500})(?::([a-z]{1,40}(?:[A-Z][a-z]{1,40}){0,5}))?$/);
const maxSegments = 8;

/** A model that a verb of several words follows (`predictLongRunning`), or whose operation is asked for. */
const passedOfModel = boundedPattern(
  /^\/(?:models|tunedModels)\/.{1,500}(?:(?::|%3[aA])[a-z]{1,40}(?:[A-Z][a-z]{1,40}){1,5}|\/operations\/[^/]{1,500})$/,
);

/**
 * The parts of Gemini's API that Sluice does not serve itself: files, caches, batches, interactions, file search
 * stores, tokens for the Live API, long-running operations such as Veo's, and future additions. Knows only how its
 * paths are built: names and ids take turns, and a verb may follow after a colon. Source: Google, "Gemini API
 * reference"; AIP-122 and AIP-136.
 *
 * Whether the path names a model, but asks for something else than its description.
 */
function isPassedOfModel(path: string): boolean {
  return passedOfModel.test(path);
}

/** Paths, by label, on which nothing runs a model and nothing is billed by its size. */
const storing = boundedPattern(
  /^(?:\/upload)?\/files(?:[/:].{1,500})?$|^\/fileSearchStores(?:\/\{id\})?$|:cancel$|\/cancel$/,
);

/** @param path below the version, percent-encoded; `/upload/files` for `/upload/v1beta/files`. Null if it cannot be one of these */
function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = passedMethod(method);
  const found = readPath(path);
  if (!knownMethod || !found) return null;
  const { label, names } = found;
  // The name of a token is the token itself.
  const objectMember = label === '/auth_tokens' ? null : 'name';
  const isStoring = storing.test(label);
  return passedRoute(knownMethod, { label, names, ids: names, wire: passthrough, isStoring, objectMember });
}

/** `names` are the ids of objects, decoded. A model is none. */
function readPath(path: string): { label: string; names: string[] } | null {
  const segments = path.split('/').slice(1).map(decodeSegment);
  const [last = ''] = segments.splice(-1);
  const [, lastName, verb] = idAndVerb.exec(last) ?? [];
  if (lastName === undefined || segments.length >= maxSegments) return null;
  const labels: string[] = [];
  const names: string[] = [];
  let before = '';
  for (const segment of [...segments, lastName]) {
    const isId = before !== '' && before !== 'upload' && segment !== 'operations';
    if (segment === '' || (!isId && !collection.test(segment))) return null;
    const isModel = before === 'models' || before === 'tunedModels';
    labels.push(isModel ? '{model}' : isId ? '{id}' : segment);
    if (isId && !isModel) names.push(segment);
    before = isId ? '' : segment;
  }
  return { label: `/${labels.join('/')}${verb === undefined ? '' : `:${verb}`}`, names };
}

// Gemini's API: which paths are its own, where clients put the key, how errors are written.

/** Google's Gemini API. Its clients are configured with Sluice's address without a version. */
export const geminiApi: Api = {
  name: 'gemini',
  base: '/v1beta',
  routes: geminiRoutes,
  models: { askedIn, writeList: (models) => ({ models: models.map(writeOne) }), writeOne },
  usagePath: null,
  passthroughPath,
  helloPath: null,
  locate: locateGemini,
  isSpokenIn,
  locateShared,
  betterPath,
  readKeys: presentedKeys,
  writeError: (error) => writeGeminiError(wordsOf(error)),
  statusOf: (error) => geminiErrorStatus(wordsOf(error)),
  errorType: 'application/json; charset=UTF-8',
  errorHeaders: () => ({}),
  requestIdHeader: 'x-request-id',
};

function askedIn(path: string): string | null {
  if (path === '/models') return '';
  if (path.startsWith('/models/{model}:') || isPassedOfModel(path)) return null;
  return path.startsWith('/models/') ? decodeSegment(path.slice('/models/'.length)) : null;
}

/** Omits the token limits, which clients would mistake for the model's actual ones. The list has a single page. */
function writeOne({ id, created }: ListedModel) {
  return {
    name: id.startsWith('tunedModels/') ? id : `models/${id}`,
    version: String(created),
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  };
}

/** Google's API answers a request without a key with 403, and one with a wrong key with 400. */
function wordsOf({ message, kind, code, retryAfterSeconds }: GatewayError) {
  return {
    message,
    type: kind.type,
    code: code === 'missing_key' ? 'permission_denied' : kind.code,
    status: kind.status,
    retryAfterSeconds,
  };
}

// Recognises URLs of Gemini's API. Source: Google, "Gemini API reference"; `@google/genai`, which does not encode
// models.

/** Verbs at the end of a model's path. */
const verbs = new Set([
  'generateContent',
  'streamGenerateContent',
  'countTokens',
  'embedContent',
  'batchEmbedContents',
  'predict',
]);

/** A model's name may contain slashes and colons; the verb begins after the last colon. */
const modelPath = boundedPattern(/^\/(?:models|(tunedModels))\/(.+)(?::|%3[aA])(\w{1,40})$/);

/** One version or several, since a base URL that has a version gets another one from the client. */
const versions = boundedPattern(/^(?:\/v1(?:beta|alpha)?){1,4}(?=\/)/);
const uploadVersions = boundedPattern(/^(?:\/v1(?:beta|alpha)?){0,4}\/upload(?:\/v1(?:beta|alpha)?){1,4}(?=\/)/);

/**
 * Accepts `/v1beta`, `/v1alpha`, `/upload/…`, and `/v1` if the path cannot be another API's. The query parameter `alt` becomes
 * part of the path, because it selects the format of the answer, as the verb does.
 */
export function locateGemini(path: string, query: string): ApiLocation | null {
  const [version] = versions.exec(path) ?? [];
  if (version === undefined) return path.startsWith('/upload/') ? locateShared(path, query) : null;
  const subpath = path.slice(version.length);
  if (subpath.startsWith('/upload/')) return locateShared(path, query);
  const isOwn = version.includes('a');
  // Google's API for OpenAI's clients.
  if (isOwn && subpath.startsWith('/openai/')) return null;
  return isOwn ? locateBelow(subpath, query) : locationOfModel(subpath, query);
}

/** The place of any path of Gemini's API, also of one that others have as well, such as `/v1/files`. */
function locateShared(path: string, query: string): ApiLocation | null {
  const [upload] = uploadVersions.exec(path) ?? [];
  if (upload !== undefined) return { path: withoutSlash(`/upload${path.slice(upload.length)}`), query, model: null };
  const [version] = versions.exec(path) ?? [];
  return version === undefined ? null : locateBelow(path.slice(version.length), query);
}

/** Google, "API key", "OAuth" and "Upload files": what its SDKs and its examples for curl send. */
const ownHeaders = [
  'x-goog-api-key',
  'x-goog-api-client',
  'x-goog-user-project',
  'x-goog-upload-protocol',
  'x-goog-upload-command',
] as const;
const otherKeys = ['authorization', 'api-key', 'x-api-key'] as const;

function isSpokenIn(headers: IncomingHttpHeaders, query: string): boolean {
  if (ownHeaders.some((name) => headers[name] !== undefined)) return true;
  const isKeyAlone = query.includes('key=') && otherKeys.every((name) => headers[name] === undefined);
  return isKeyAlone && new URLSearchParams(query).has('key');
}

function locateBelow(subpath: string, query: string): ApiLocation {
  return locationOfModel(subpath, query) ?? { path: withoutSlash(subpath), query, model: null };
}

/** For a base URL that lacks the version or has something else before it. */
function betterPath(path: string): string | null {
  const model = path.lastIndexOf('/models/');
  const subpath = path.slice(model);
  return model !== -1 && locationOfModel(subpath, '') ? `/v1beta${subpath}` : null;
}

function locationOfModel(path: string, query: string): ApiLocation | null {
  const [, tuned, model, verb] = modelPath.exec(path) ?? [];
  if (model === undefined || verb === undefined || !verbs.has(verb)) return null;
  const name = decodeSegment(model);
  const isEvents = verb === 'streamGenerateContent' && altOf(query) === 'sse';
  return {
    path: `/models/{model}:${verb}${isEvents ? '?alt=sse' : ''}`,
    query: withoutAlt(query),
    model: tuned === undefined ? name : `tunedModels/${name}`,
  };
}

function altOf(query: string): string | null {
  return query.includes('alt=') ? new URLSearchParams(query).get('alt') : null;
}

function withoutAlt(query: string): string {
  if (!query.includes('alt=')) return query;
  const remaining = query
    .slice(1)
    .split('&')
    .filter((parameter) => !parameter.startsWith('alt='));
  return remaining.length === 0 ? '' : `?${remaining.join('&')}`;
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
