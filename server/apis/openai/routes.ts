/** OpenAI's API: its routes, which paths are its own, where clients put the key, how errors are written. */

import type { GatewayError } from '../../contract/errors.ts';
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
import { passedMethod, passedRoute, readResourcePath, unreportedUsage } from '../core/requests/passthrough-route.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import type { Wire } from '../core/wire.ts';
import { chat, completions } from './chat.ts';
import { embeddings, moderations } from './embeddings.ts';
import { imageEdits, images, speech, transcription, translation, videoContent, videos } from './media.ts';
import { realtime, realtimeSession } from './realtime.ts';
import { responses } from './responses.ts';
import { type CommonField, jsonRequest, mediaAnswer, writeError } from './wire/formats.ts';

type Details = Partial<Omit<Route, 'method' | 'path' | 'wire' | 'stream'>>;

const post = (path: string, wire: Wire, details: Details = {}): Route => ({
  ...plainRoute,
  method: 'POST',
  path,
  wire,
  ...details,
});
const streaming = (path: string, wire: Wire, details: Details = {}): Route => ({
  ...post(path, wire, details),
  stream: wire.stream,
});
const get = (path: string, wire: Wire, details: Details = {}): Route => ({
  ...plainRoute,
  method: 'GET',
  path,
  wire,
  body: 'none',
  ...details,
});
const remove = (path: string, wire: Wire, details: Details = {}): Route => ({
  ...get(path, wire, details),
  method: 'DELETE',
});

type Job = NonNullable<Route['job']>;
const video = (behaviour: Job['behaviour']): Details => ({ job: { kind: 'video', behaviour } });
const newVideo = (behaviour: 'creates' | 'creates-from'): Details => ({ ...video(behaviour), purchases: 'all' });
const image: Details = { purchases: 'all' };
const response = (behaviour: Job['behaviour']): Details => ({ job: { kind: 'response', behaviour } });

export const openaiRoutes: readonly Route[] = [
  streaming('/chat/completions', chat, { model: 'required' }),
  streaming('/completions', completions, { model: 'required' }),
  streaming('/responses', responses, { model: 'optional', purchases: 'background', ...response('creates') }),
  post('/responses/input_tokens', responses, {
    model: 'optional',
    isFree: true,
    writeTokenCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  }),
  post('/responses/compact', responses, { model: 'optional' }),
  { ...get('/responses/:id', responses, response('uses')), stream: responses.stream },
  remove('/responses/:id', responses, response('deletes')),
  post('/responses/:id/cancel', responses, response('uses')),
  get('/responses/:id/input_items', responses, response('uses')),
  post('/embeddings', embeddings, { model: 'required' }),
  post('/moderations', moderations, { model: 'optional' }),
  streaming('/images/generations', images, { model: 'optional', ...image }),
  streaming('/images/edits', imageEdits, { body: 'json-or-multipart', model: 'optional', ...image }),
  post('/images/variations', imageEdits, { body: 'multipart', model: 'optional', ...image }),
  streaming('/audio/transcriptions', transcription, { body: 'multipart', model: 'required' }),
  streaming('/audio/translations', translation, { body: 'multipart', model: 'required' }),
  streaming('/audio/speech', speech, { model: 'required' }),
  get('/realtime', realtime, { model: 'optional', session: realtimeSession }),
  post('/videos', videos, { body: 'json-or-multipart', model: 'optional', ...newVideo('creates') }),
  get('/videos/:id', videos, video('uses')),
  remove('/videos/:id', videos, video('deletes')),
  get('/videos/:id/content', videoContent, { ...video('uses'), content: true }),
  post('/videos/:id/remix', videos, { body: 'json-or-multipart', ...newVideo('creates-from') }),
];

const passthrough: Wire<CommonField> = {
  name: 'openai-passthrough',
  operation: 'passthrough',
  request: jsonRequest,
  errorName: 'code',
  usage: unreportedUsage,
  whole: mediaAnswer,
  stream: null,
  rescue: null,
};

/** Resources of an organisation rather than a project, which require an admin key. */
const adminRoots = new Set(['organization', 'projects']);

/** Routes, by label, that only store, change or stop something and run no model. */
const storing = boundedPattern(
  /^\/(?:(?:files|assistants|videos\/characters)(?:\/\{id\})?|chat\/completions\/\{id\}|uploads(?:\/\{id\}(?:\/parts|\/complete)?)?|(?:conversations|skills|threads)(?:\/\{id\}(?:\/(?:items|versions|messages)(?:\/\{id\})?)?)?|.{1,500}\/cancel)$/,
);

/**
 * The part of OpenAI's API that Sluice does not serve itself: files, batches, vector stores, assistants, and future
 * additions. Knows only how its paths are built: https://platform.openai.com/docs/api-reference.
 *
 * `path` below `/v1`, percent-encoded. Null if it is not a path of OpenAI's API.
 */
function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = passedMethod(method);
  const found = readResourcePath(path);
  // A path below a deployment names a model, which passthrough would not check.
  if (!knownMethod || !found || found.root === 'deployments') return null;
  if (adminRoots.has(found.root)) return { refusal: adminRefusal };
  if (path === '/videos') return { refusal: videosRefusal };
  const isStoring = storing.test(found.label);
  return passedRoute(knownMethod, { ...found, wire: passthrough, isStoring, objectMember: 'id' });
}

const adminRefusal =
  "Sluice does not pass on the API that administers an organisation (/v1/organization, /v1/projects): call the provider itself, with that organisation's admin key.";

const videosRefusal =
  'Sluice does not pass on the list of videos, which would show those of other groups: keep the id of each video that you make.';

/** OpenAI's API, under `/v1` and under the paths of Azure's clients. */
export const openaiApi: Api = {
  name: 'openai',
  base: '/v1',
  routes: openaiRoutes,
  models: {
    askedIn,
    writeList: (models) => ({ object: 'list', data: models.map(writeModel) }),
    writeOne: writeModel,
  },
  usagePath: '/usage',
  passthroughPath,
  helloPath: null,
  locate: (path, query) => locateOpenai(path, query) ?? locateAzure(path, query),
  betterPath,
  readKeys: presentedKeys,
  writeError: (error) => writeError(error.toBody().error),
  statusOf: ({ kind }) => kind.status,
  errorType: 'application/json',
  errorHeaders,
  requestIdHeader: 'x-request-id',
};

/** `/models`, and `/models/…` with any id, which may contain slashes, encoded or not. */
function askedIn(path: string): string | null {
  if (path === '/models') return '';
  return path.startsWith('/models/') ? decodeSegment(path.slice('/models/'.length)) : null;
}

function writeModel({ id, created, ownedBy }: ListedModel) {
  return { id, object: 'model', created, owned_by: ownedBy };
}

const paths = new Set(openaiRoutes.map(({ path }) => path));

/** A base URL that ends in `/v1` twice counts as one. */
function locateOpenai(path: string, query: string): ApiLocation | null {
  if (path !== '/v1' && !path.startsWith('/v1/')) return null;
  return { path: withoutVersion(path), query, model: null };
}

function withoutVersion(path: string): string {
  let rest = path.slice('/v1'.length);
  while (rest.startsWith('/v1/')) rest = rest.slice('/v1'.length);
  return withoutSlash(rest);
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** A deployment's name may contain slashes: SDKs put it into the path unencoded. */
const deployment = boundedPattern(
  /^\/openai\/deployments\/(.+?)(\/(?:chat\/completions|completions|embeddings|responses|images\/[a-z]+|audio\/[a-z]+))\/?$/,
);

/**
 * Azure's clients call `/openai/deployments/{model}/…`, `/openai/…` and `/openai/v1/…`. Their `api-version` selects a
 * version of Azure's API; the upstream gets its provider's own. Source: Azure OpenAI REST API reference, and
 * `AzureOpenAI` of the official SDKs.
 */
function locateAzure(path: string, query: string): ApiLocation | null {
  if (!path.startsWith('/openai/')) return null;
  const plainQuery = withoutApiVersion(query);
  const [, model, rest] = deployment.exec(path) ?? [];
  if (model !== undefined && rest !== undefined) return { path: rest, query: plainQuery, model: decodeSegment(model) };
  const subpath = path.slice('/openai'.length);
  return {
    path: subpath.startsWith('/v1/') ? withoutVersion(subpath) : withoutSlash(subpath),
    query: plainQuery,
    model: null,
  };
}

function withoutApiVersion(query: string): string {
  if (!query.includes('api-version=')) return query;
  const remaining = query
    .slice(1)
    .split('&')
    .filter((parameter) => !parameter.startsWith('api-version='));
  return remaining.length === 0 ? '' : `?${remaining.join('&')}`;
}

/** For a base URL that lacks `/v1` or has a prefix before it. */
function betterPath(path: string): string | null {
  const version = path.lastIndexOf('/v1/');
  const rest = withoutSlash(version === -1 ? path : path.slice(version + '/v1'.length));
  return paths.has(rest) || rest === '/models' ? `/v1${rest}` : null;
}

function errorHeaders({ code, kind }: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (kind.retryable === false) headers['x-should-retry'] = 'false';
  if (code === 'missing_key' || code === 'invalid_key') headers['www-authenticate'] = 'Bearer';
  return headers;
}
