/** The request to one target with one credential: its headers, query and address. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Route } from '../../apis/core/api.ts';
import { isCredentialName } from '../../apis/core/requests/client-credentials.ts';
import { decidingField } from '../../apis/core/requests/deciding-fields.ts';
import { withSegment } from '../../apis/core/requests/segments.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Timeouts } from '../../contract/policy.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { AttemptPlan } from '../../routing/attempt-plan.ts';
import {
  type AttemptTimeouts,
  type CompiledProvider,
  compileTimeouts,
  type Target,
  timeoutsOf,
} from '../../routing/snapshot.ts';
import type { OutgoingRequest } from '../../transport/transport.ts';
import { containsSecret } from '../redact/find-secrets.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody, Sendable } from '../request/request-body.ts';

interface Recipient {
  target: Target;
  credential: UpstreamCredential | null;
  /** The body for this target. */
  sendable: Sendable;
  timeouts: Timeouts;
}

/** Builds the request to one target with one credential. */
export function outgoingRequest(
  client: IncomingMessage,
  call: OutgoingCall,
  { target, credential, sendable, timeouts }: Recipient,
): OutgoingRequest {
  const { provider } = target;
  const { route } = call.match;
  const headers = outgoingHeaders(call.headers, provider, credential);
  const isBare = route.body === 'none' || (route.body === 'passed' && sendable.length === 0);
  if (route.body === 'none') delete headers['content-type'];
  else if (route.body === 'passed') describePassedBody(headers, client, sendable.length);
  else describeBody(headers, call.body, sendable.length);
  return {
    origin: provider.endpoint.origin,
    method: client.method ?? route.method,
    path: provider.dialect.address(provider.endpoint, pathFor(target, call), call.query, target.model),
    headers,
    body: isBare ? null : sendable.open(),
    timeouts,
    proxy: provider.proxy,
    certificate: provider.certificate,
  };
}

/** Inserts the target's name for the model, if a segment of the path is that. */
function pathFor({ model }: Target, { match, path }: OutgoingCall): string {
  const isSegment = match.route.modelIn === 'path' && match.openSegment !== -1;
  return isSegment && model !== null ? withSegment(path, match.openSegment, model) : path;
}

const jsonType = boundedPattern(/^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;[ \t]*charset="?utf-8"?)?$/i);

/**
 * JSON that was sent under another content type (`curl -d` sends a form's) is forwarded as JSON; so is one with a charset
 * other than UTF-8, as which it was read: aiohttp decodes by the declared charset (`BaseRequest.text`), and might read
 * other fields from the same bytes.
 */
function describeBody(headers: Record<string, string>, body: RequestBody, length: number | null): void {
  if (length !== null) headers['content-length'] = String(length);
  const isNamedJson = jsonType.test(headers['content-type'] ?? '');
  if (body.contentType === 'application/json' && !isNamedJson) headers['content-type'] = 'application/json';
}

/** The body was not parsed, so it may be compressed; a chunked one has no length. */
function describePassedBody(headers: Record<string, string>, client: IncomingMessage, length: number | null): void {
  if (length) headers['content-length'] = String(length);
  const encoding = client.headers['content-encoding'];
  if (encoding !== undefined) headers['content-encoding'] = encoding;
}

/**
 * The client's query without parameters that carry a credential, otherwise byte for byte. `query` and the result include
 * the `?`, or are empty.
 */
export function outgoingQuery(query: string, secrets: readonly string[]): string {
  if (query === '') return query;
  const parameters = query.slice(1).split('&');
  const passedParameters = parameters.filter((parameter) => !carriesCredential(parameter, secrets));
  if (passedParameters.length === parameters.length) return query;
  return passedParameters.length === 0 ? '' : `?${passedParameters.join('&')}`;
}

/**
 * Throws a GatewayError if the query of a request with a body contains a deciding field: an upstream might take it from
 * the query instead of the body.
 */
export function checkQuery(query: string, { body }: Route): void {
  if (query === '' || body === 'none' || body === 'passed') return;
  for (const parameter of query.slice(1).split('&')) {
    const field = decidingField(decoded(nameOf(parameter)));
    if (field === null) continue;
    throw new GatewayError('invalid_value', `Send '${field}' in the body. It is not read from the query.`, {
      param: field,
    });
  }
}

function carriesCredential(parameter: string, secrets: readonly string[]): boolean {
  if (isCredentialName(decoded(nameOf(parameter)))) return true;
  return containsSecret(parameter, secrets) || containsSecret(parameter.replaceAll('+', ' '), secrets);
}

function nameOf(parameter: string): string {
  const sign = parameter.indexOf('=');
  return sign === -1 ? parameter : parameter.slice(0, sign);
}

/** Keeps a stray `%`. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

/** The limits of an attempt, which are shorter while `plan` has another target to ask. */
export function timeoutsFor(
  { group, match, body }: OutgoingCall,
  { provider }: Target,
  plan: AttemptPlan,
): AttemptTimeouts {
  const limits = group.timeouts.get(provider.id) ?? compileTimeouts(provider.ownTimeouts);
  return timeoutsOf(limits, body.fields.stream && match.route.stream !== null, plan);
}

/** Counts the Sluice instances that a request has passed through, to break loops of gateways. */
const hopHeader = 'x-sluice-hops';
const maxHops = 4;

/**
 * Client headers that never reach an upstream, besides credentials: those of the connection, those that select an account
 * (the credential determines it), those that reveal the client's location, and those that override the method or path
 * that was admitted.
 */
const droppedNames = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  // Sluice has decoded the body already.
  'content-encoding',
  'accept-encoding',
  'origin',
  'referer',
  'forwarded',
  'via',
  'openai-organization',
  'openai-project',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
  hopHeader,
]);

const droppedPrefix = /^(?:x-forwarded-|x-real-ip|x-sluice-|sec-|cf-)/;

/**
 * The client's headers that may be forwarded: those that concern the request itself and contain none of the
 * `secrets`.
 */
export function passableHeaders(client: IncomingHttpHeaders, secrets: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const connectionNames = namedByConnection(client.connection);
  for (const name in client) {
    const value = client[name];
    if (typeof value !== 'string' || droppedNames.has(name) || droppedPrefix.test(name)) continue;
    if (connectionNames?.has(name) || isCredentialName(name) || containsSecret(value, secrets)) continue;
    headers[name] = value;
  }
  // Usage is read from the bytes that the client gets unchanged, so they must not be compressed.
  headers['accept-encoding'] = 'identity';
  headers[hopHeader] = String(hopsOf(client) + 1);
  return headers;
}

/** The headers of an attempt: the dialect's, overridden by the client's passable ones, the provider's, then the credential's. */
export function outgoingHeaders(
  passable: Readonly<Record<string, string>>,
  provider: CompiledProvider,
  credential: UpstreamCredential | null,
): Record<string, string> {
  return { ...provider.dialect.defaultHeaders, ...passable, ...provider.headers, ...credential?.headers };
}

/** Headers listed in `Connection`. Null for the usual value, `keep-alive`, which lists none. */
function namedByConnection(connection: string | undefined): Set<string> | null {
  if (!connection || connection === 'keep-alive') return null;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}

export function checkHops(client: IncomingHttpHeaders): void {
  if (hopsOf(client) < maxHops) return;
  throw new GatewayError(
    'loop_detected',
    'This request has passed through Sluice several times: a provider’s base URL leads back to Sluice. Correct that base URL.',
  );
}

function hopsOf(client: IncomingHttpHeaders): number {
  const hops = Number(client[hopHeader]);
  return Number.isInteger(hops) && hops > 0 ? hops : 0;
}
