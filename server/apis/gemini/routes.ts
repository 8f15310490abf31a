/** Routes of Gemini's API by verb. The URL contains the model and selects streaming. */

import { isObject } from '../../contract/is-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { type PassthroughPath, plainRoute, type Route } from '../core/api.ts';
import { passedMethod, passedRoute, unreportedUsage } from '../core/requests/passthrough-route.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { numberOf } from '../core/token-counts.ts';
import { cloudEmbeddings } from '../core/usage/conversation-usage.ts';
import { wholeDocument } from '../core/usage/reported-usage.ts';
import type { ExtractedUsage, MeasuredRequest, RequestFormat, RequestView, UsageFormat, Wire } from '../core/wire.ts';
import { geminiAnswer, generateArrayStream, generateContent, generateStream } from './generate.ts';
import { type GeminiField, geminiRequest } from './request.ts';
import { geminiUsage } from './usage.ts';

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
export function isPassedOfModel(path: string): boolean {
  return passedOfModel.test(path);
}

/** Paths, by label, on which nothing runs a model and nothing is billed by its size. */
const storing = boundedPattern(
  /^(?:\/upload)?\/files(?:[/:].{1,500})?$|^\/fileSearchStores(?:\/\{id\})?$|:cancel$|\/cancel$/,
);

/** @param path below the version, percent-encoded; `/upload/files` for `/upload/v1beta/files`. Null if it cannot be one of these */
export function passthroughPath(method: string, path: string): PassthroughPath | null {
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
