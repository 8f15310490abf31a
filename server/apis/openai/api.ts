import type { GatewayError } from '../../contract/errors.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { Api, ApiLocation, ListedModel } from '../core/api.ts';
import { presentedKeys } from '../core/requests/client-credentials.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { openaiRoutes, passthroughPath } from './routes.ts';
import { writeError } from './wire/formats.ts';

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
