import type { IncomingMessage } from 'node:http';
import { pattern } from '../bounded-pattern.ts';
import type { Timeouts } from '../contract/policy.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { CompiledGroup, Target } from '../routing/snapshot.ts';
import type { OutgoingRequest } from '../transport/transport.ts';
import type { RouteMatch } from '../wire/registry.ts';
import { withSegment } from '../wire/segments.ts';
import type { HeldBytes } from './held-bytes.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import type { RequestBody, Sendable } from './request-body.ts';

/** The request, independent of its target. */
export interface OutgoingCall {
  match: RouteMatch;
  group: CompiledGroup;
  body: RequestBody;
  /** The memory account of the request. */
  held: HeldBytes;
  /** The client's headers that may be forwarded. */
  headers: Readonly<Record<string, string>>;
  /** Relative to the API's base, percent-encoded as the client sent it. */
  path: string;
  /** The client's query that may be forwarded. */
  query: string;
}

interface Addressee {
  target: Target;
  credential: UpstreamCredential | null;
  /** The body for this target. */
  sendable: Sendable;
  timeouts: Timeouts;
}

/** The request to one target with one credential. */
export function outgoingRequest(
  client: IncomingMessage,
  call: OutgoingCall,
  { target, credential, sendable, timeouts }: Addressee,
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
  };
}

/** Inserts the target's name for the model, if a segment of the path is that. */
function pathFor({ model }: Target, { match, path }: OutgoingCall): string {
  const isSegment = match.route.modelIn === 'path' && match.openSegment !== -1;
  return isSegment && model !== null ? withSegment(path, match.openSegment, model) : path;
}

const jsonType = pattern(/^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;[ \t]*charset="?utf-8"?)?$/i);

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
