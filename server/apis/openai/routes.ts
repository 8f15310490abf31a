/** The routes of OpenAI's API. */
import { plainRoute, type Route } from '../core/route.ts';
import type { Wire } from '../core/wire.ts';
import { chat, completions } from './chat.ts';
import { embeddings, moderations } from './embeddings.ts';
import { imageEdits, images, speech, transcription, translation, videoContent, videos } from './media.ts';
import { realtime } from './realtime.ts';
import { realtimeSession } from './realtime-events.ts';
import { responses } from './responses.ts';

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
