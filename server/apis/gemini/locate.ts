/** Recognises URLs of Gemini's API. Source: Google, "Gemini API reference"; `@google/genai`, which does not encode models. */
import type { IncomingHttpHeaders } from 'node:http';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { ApiLocation } from '../core/api.ts';
import { decodeSegment } from '../core/requests/segments.ts';

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

/**
 * Accepts `/v1beta`, `/v1alpha`, and `/v1` if the path cannot be OpenAI's. The query parameter `alt` becomes part of the
 * path, because it selects the format of the answer, as the verb does.
 */
export function locateGemini(path: string, query: string, headers: IncomingHttpHeaders): ApiLocation | null {
  const subpath = belowVersion(path);
  if (subpath === null) return null;
  const location = locationOfModel(subpath, query);
  if (location || !path.startsWith('/v1/')) return location ?? { path: withoutSlash(subpath), query, model: null };
  const isList = subpath === '/models' || subpath.startsWith('/models/');
  return isList && headers['x-goog-api-client'] !== undefined
    ? { path: withoutSlash(subpath), query, model: null }
    : null;
}

const uploads = '/upload/v1beta/';

/** Null if the path has none of the API's versions, or belongs to Google's OpenAI-compatible API. */
function belowVersion(path: string): string | null {
  if (path.startsWith(uploads)) return `/upload${path.slice(uploads.length - 1)}`;
  if (path.startsWith('/v1/models')) return path.slice('/v1'.length);
  if (path.startsWith('/v1beta/')) return path.startsWith('/v1beta/openai/') ? null : path.slice('/v1beta'.length);
  return path.startsWith('/v1alpha/') ? path.slice('/v1alpha'.length) : null;
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
