/** The routes of OpenAI's API. */

import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { type PassthroughPath, plainRoute, type Route } from '../core/api.ts';
import { passedMethod, passedRoute, readResourcePath, unreportedUsage } from '../core/requests/passthrough-route.ts';
import type { Wire } from '../core/wire.ts';
import { chat, completions } from './chat.ts';
import { embeddings, moderations } from './embeddings.ts';
import { imageEdits, images, speech, transcription, translation, videoContent, videos } from './media.ts';
import { realtime, realtimeSession } from './realtime.ts';
import { responses } from './responses.ts';
import { type CommonField, jsonRequest, mediaAnswer } from './wire/formats.ts';

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
export function passthroughPath(method: string, path: string): PassthroughPath | null {
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
