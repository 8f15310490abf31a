/** The table of `/v1`: every path that is served, what its body is, and what is done with it. Nothing else decides by path. */
import type { Capability } from '../contract/capability.ts';
import { GatewayError } from '../contract/errors.ts';
import type { StreamProtocol } from './openai/stream-protocol.ts';

type BodyKind = 'none' | 'json' | 'multipart' | 'json-or-multipart';

/**
 * `creates`: the reply's `id` is a new job. `uses`: the path names a job. `creates-from`: so does it, and the reply is a new
 * one. `deletes`: so does it, and afterwards it is gone. `lists`: the group's jobs, put together here.
 */
type JobBehaviour = 'creates' | 'uses' | 'creates-from' | 'deletes' | 'lists';

export interface InferenceRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below `/v1`; `:id` stands for one percent-encoded segment. */
  path: string;
  body: BodyKind;
  capability: Capability;
  /** `optional`: the group's default for the capability, or its only provider, serves a request that names none. */
  model: 'required' | 'optional' | 'none';
  stream?: StreamProtocol;
  /** Only tells how much something would be, and uses nothing itself. */
  isFree?: true;
  job?: { kind: 'video' | 'response'; behaviour: JobBehaviour };
  /** May be answered by a redirect to storage, which is followed without credentials. */
  content?: true;
}

const video = (behaviour: JobBehaviour) => ({ kind: 'video', behaviour }) as const;
const response = (behaviour: JobBehaviour) => ({ kind: 'response', behaviour }) as const;

export const inferenceRoutes: readonly InferenceRoute[] = [
  { method: 'POST', path: '/chat/completions', body: 'json', capability: 'chat', model: 'required', stream: 'chat' },
  { method: 'POST', path: '/completions', body: 'json', capability: 'completions', model: 'required', stream: 'chat' },
  {
    method: 'POST',
    path: '/responses',
    body: 'json',
    capability: 'responses',
    model: 'optional',
    stream: 'responses',
    job: response('creates'),
  },
  {
    method: 'POST',
    path: '/responses/input_tokens',
    body: 'json',
    capability: 'responses',
    model: 'optional',
    isFree: true,
  },
  { method: 'POST', path: '/responses/compact', body: 'json', capability: 'responses', model: 'optional' },
  {
    method: 'GET',
    path: '/responses/:id',
    body: 'none',
    capability: 'responses',
    model: 'none',
    stream: 'responses',
    job: response('uses'),
  },
  {
    method: 'DELETE',
    path: '/responses/:id',
    body: 'none',
    capability: 'responses',
    model: 'none',
    job: response('deletes'),
  },
  {
    method: 'POST',
    path: '/responses/:id/cancel',
    body: 'json',
    capability: 'responses',
    model: 'none',
    job: response('uses'),
  },
  {
    method: 'GET',
    path: '/responses/:id/input_items',
    body: 'none',
    capability: 'responses',
    model: 'none',
    job: response('uses'),
  },
  { method: 'POST', path: '/embeddings', body: 'json', capability: 'embeddings', model: 'required' },
  { method: 'POST', path: '/moderations', body: 'json', capability: 'moderations', model: 'optional' },
  {
    method: 'POST',
    path: '/images/generations',
    body: 'json',
    capability: 'images',
    model: 'optional',
    stream: 'images',
  },
  {
    method: 'POST',
    path: '/images/edits',
    body: 'json-or-multipart',
    capability: 'images',
    model: 'optional',
    stream: 'images',
  },
  { method: 'POST', path: '/images/variations', body: 'multipart', capability: 'images', model: 'optional' },
  {
    method: 'POST',
    path: '/audio/transcriptions',
    body: 'multipart',
    capability: 'transcription',
    model: 'required',
    stream: 'transcription',
  },
  {
    method: 'POST',
    path: '/audio/translations',
    body: 'multipart',
    capability: 'translation',
    model: 'required',
    stream: 'transcription',
  },
  { method: 'POST', path: '/audio/speech', body: 'json', capability: 'speech', model: 'required', stream: 'speech' },
  {
    method: 'POST',
    path: '/videos',
    body: 'json-or-multipart',
    capability: 'videos',
    model: 'optional',
    job: video('creates'),
  },
  { method: 'GET', path: '/videos', body: 'none', capability: 'videos', model: 'none', job: video('lists') },
  { method: 'GET', path: '/videos/:id', body: 'none', capability: 'videos', model: 'none', job: video('uses') },
  { method: 'DELETE', path: '/videos/:id', body: 'none', capability: 'videos', model: 'none', job: video('deletes') },
  {
    method: 'GET',
    path: '/videos/:id/content',
    body: 'none',
    capability: 'videos',
    model: 'none',
    job: video('uses'),
    content: true,
  },
  {
    method: 'POST',
    path: '/videos/:id/remix',
    body: 'json-or-multipart',
    capability: 'videos',
    model: 'none',
    job: video('creates-from'),
  },
];

export interface RouteMatch {
  route: InferenceRoute;
  /** The path's `:id`, decoded. */
  id: string | null;
}

const byPath = new Map<string, Map<string, InferenceRoute>>();
for (const route of inferenceRoutes) {
  const methods = byPath.get(route.path) ?? new Map<string, InferenceRoute>();
  byPath.set(route.path, methods.set(route.method, route));
}

/** A request's URL below `/v1`. A base URL that was given with `/v1` twice is meant once. */
export function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  const whole = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? '' : url.slice(mark);
  let path = whole.slice('/v1'.length);
  while (path.startsWith('/v1/')) path = path.slice('/v1'.length);
  if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1);
  return { path, query };
}

/** The route of a path from `splitUrl`. Throws GatewayError `unknown_url` or `method_not_allowed`. */
export function findRoute(method: string, path: string): RouteMatch {
  const match = matchRoute(method, path);
  if (match && 'route' in match) return match;
  if (match) {
    throw new GatewayError(
      'method_not_allowed',
      `Not allowed to ${method} on /v1${path}. Allowed: ${match.allowed.join(', ')}.`,
    );
  }
  throw new GatewayError('unknown_url', `Invalid URL (${method} /v1${path.slice(0, 200)}).`);
}

/** Segments are told apart before `%2F` is decoded. */
function matchRoute(method: string, path: string): RouteMatch | { allowed: string[] } | null {
  const plain = byPath.get(path);
  if (plain) return choose(plain, method, null);
  const segments = path.split('/');
  const id = segments[2];
  const methods = id && byPath.get(segments.with(2, ':id').join('/'));
  return methods ? choose(methods, method, decodeSegment(id)) : null;
}

function choose(
  methods: Map<string, InferenceRoute>,
  method: string,
  id: string | null,
): RouteMatch | { allowed: string[] } {
  const route = methods.get(method === 'HEAD' ? 'GET' : method);
  return route ? { route, id } : { allowed: [...methods.keys()] };
}

/** A path whose `:id` is another. */
export function withJobId(path: string, id: string): string {
  return path.split('/').with(2, encodeURIComponent(id)).join('/');
}

/** A stray `%` is the client's own and stays. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
