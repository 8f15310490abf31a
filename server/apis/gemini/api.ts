/** Gemini's API: which paths are its own, where clients put the key, how errors are written. */

import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { Api, ApiLocation, ListedModel } from '../core/api.ts';
import { presentedKeys } from '../core/requests/client-credentials.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { geminiRoutes, isPassedOfModel, passthroughPath } from './routes.ts';
import { geminiErrorStatus, writeGeminiError } from './write-error.ts';

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
