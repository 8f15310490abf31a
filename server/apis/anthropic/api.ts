import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import type { Api, ApiLocation, ListedModel } from '../core/api.ts';
import { presentedKeys } from '../core/requests/client-credentials.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { passthroughPath } from './passthrough.ts';
import { anthropicRoutes } from './routes.ts';
import { anthropicErrorStatus, anthropicErrorType, writeAnthropicError } from './write-error.ts';

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
  betterPath: () => null,
  readKeys: presentedKeys,
  writeError: (error) => writeAnthropicError(wordsOf(error)),
  statusOf,
  errorType: 'application/json',
  errorHeaders,
  requestIdHeader: 'request-id',
};

/** A path that both APIs have belongs to Anthropic's if the request has the version header that its SDKs always send. */
function locate(path: string, query: string, headers: IncomingHttpHeaders): ApiLocation | null {
  if (!path.startsWith('/v1/')) return null;
  const subpath = withoutVersion(path);
  const isShared = ['/models', '/files'].some((root) => subpath === root || subpath.startsWith(`${root}/`));
  const isOurs = subpath === '/messages' || subpath.startsWith('/messages/');
  return isOurs || (isShared && headers['anthropic-version'] !== undefined)
    ? { path: subpath, query, model: null }
    : null;
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
