/** Anthropic's API: its routes, those that Sluice serves and those that it passes on; which paths are its own; its errors. */

import type { IncomingHttpHeaders } from 'node:http';
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
import { anthropicErrorStatus, anthropicErrorType, messages, writeAnthropicError } from './messages.ts';

/**
 * `POST /v1/messages/count_tokens`: the request of `POST /v1/messages` without the limits of its answer. Bedrock counts them as
 * `inputTokens`.
 */
const messagesTokenCount: Wire = {
  ...messages,
  whole: { ...messages.whole, members: ['input_tokens', 'inputTokens'] },
  stream: null,
  rescue: null,
};

const post = { ...plainRoute, method: 'POST', wire: messages, model: 'required' } as const;

export const anthropicRoutes: readonly Route[] = [
  { ...post, path: '/messages', stream: messages.stream },
  {
    ...post,
    path: '/messages/count_tokens',
    wire: messagesTokenCount,
    isFree: true,
    writeTokenCount: (tokens) => ({ input_tokens: tokens }),
  },
];

const passthrough: Wire = {
  ...messages,
  name: 'anthropic-passthrough',
  operation: 'passthrough',
  usage: unreportedUsage,
  stream: null,
};

/** Paths, by label, on which nothing runs a model: they store, change or stop something. */
const storing = boundedPattern(
  /^\/(?:files|skills|agents|environments|vaults|memory_stores|user_profiles)(?:\/.{1,500})?$|\/(?:cancel|archive)$/,
);

/**
 * The parts of Anthropic's API that Sluice does not serve itself: message batches, files, skills, agents, sessions,
 * environments, vaults, memory stores, user profiles, the old `/complete`, and future additions. Knows only how its
 * paths are built. Source: Anthropic's API reference, and the resources of its SDKs.
 *
 * @param path below `/v1`, percent-encoded; the result is null if it cannot be a path of Anthropic's API
 */
function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = passedMethod(method);
  const found = readResourcePath(path);
  if (!knownMethod || !found) return null;
  if (found.root === 'organizations') return { refusal: adminRefusal };
  const isStoring = storing.test(found.label);
  return passedRoute(knownMethod, { ...found, wire: passthrough, isStoring, objectMember: 'id' });
}

const adminRefusal =
  "Sluice does not pass on the API that administers an organisation (/v1/organizations): call the provider itself, with that organisation's admin key.";

/** Anthropic's API. Its clients use a base URL without `/v1`. */
export const anthropicApi: Api = {
  name: 'anthropic',
  base: '/v1',
  routes: anthropicRoutes,
  models: { askedIn, writeList, writeOne },
  usagePath: null,
  passthroughPath,
  helloPath: '/api/hello',
  locate,
  isSpokenIn,
  locateShared,
  betterPath,
  readKeys: presentedKeys,
  writeError: (error) => writeAnthropicError(wordsOf(error)),
  statusOf,
  errorType: 'application/json',
  errorHeaders,
  requestIdHeader: 'request-id',
};

function locate(path: string, query: string): ApiLocation | null {
  const location = locateShared(path, query);
  const isOurs = location?.path === '/messages' || location?.path.startsWith('/messages/');
  return isOurs ? location : null;
}

/** Anthropic's API requires the version, and its SDKs always send it; by hand it may be forgotten, since Sluice adds it. */
function isSpokenIn(headers: IncomingHttpHeaders): boolean {
  return headers['anthropic-version'] !== undefined || headers['anthropic-beta'] !== undefined;
}

function locateShared(path: string, query: string): ApiLocation | null {
  return path.startsWith('/v1/') ? { path: withoutVersion(path), query, model: null } : null;
}

const paths = new Set(anthropicRoutes.map((route) => route.path));

/** For a base URL that lacks `/v1` or has a prefix before it. */
function betterPath(path: string): string | null {
  const version = path.lastIndexOf('/v1/');
  const subpath = version === -1 ? path : withoutVersion(path.slice(version));
  return paths.has(subpath) || subpath === '/messages/batches' ? `/v1${subpath}` : null;
}

/** If the base URL ends in `/v1`, the path has it twice, since these SDKs add it. */
function withoutVersion(path: string): string {
  let rest = path.slice('/v1'.length);
  while (rest.startsWith('/v1/')) rest = rest.slice('/v1'.length);
  return rest.endsWith('/') ? rest.slice(0, -1) : rest;
}

function askedIn(path: string): string | null {
  if (path === '/models') return '';
  return path.startsWith('/models/') ? decodeSegment(path.slice('/models/'.length)) : null;
}

/** Lists all models on one page. */
function writeList(models: readonly ListedModel[]) {
  const data = models.map(writeOne);
  return { data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false };
}

function writeOne({ id, created }: ListedModel) {
  return { type: 'model', id, display_name: id, created_at: new Date(created * 1000).toISOString() };
}

/** OpenAI's API has no error code for a missing key; Anthropic's treats it like an invalid one. */
function wordsOf({ message, kind, code }: GatewayError) {
  return { message, type: kind.type, code: code === 'missing_key' ? 'invalid_api_key' : kind.code };
}

/** An `invalid_request_error` keeps its status, which says more than the type; all other types imply a status. */
function statusOf(error: GatewayError): number {
  const words = wordsOf(error);
  const { status } = error.kind;
  return anthropicErrorType(words) === 'invalid_request_error' ? status : anthropicErrorStatus(words, status);
}

function errorHeaders({ kind }: GatewayError): Record<string, string> {
  return kind.retryable === false ? { 'x-should-retry': 'false' } : {};
}
