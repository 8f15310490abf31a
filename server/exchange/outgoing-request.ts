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

/** What is asked, whoever is asked. */
export interface OutgoingCall {
  match: RouteMatch;
  group: CompiledGroup;
  body: RequestBody;
  /** The memory that it takes up. */
  held: HeldBytes;
  /** What of the client's headers may go out. */
  headers: Readonly<Record<string, string>>;
  /** Below the API's base, percent-encoded as the client sent it. */
  path: string;
  /** What of the client's query may go out. */
  query: string;
}

interface Addressee {
  target: Target;
  credential: UpstreamCredential | null;
  /** The body as this target is to have it. */
  sendable: Sendable;
  timeouts: Timeouts;
}

/** What is sent to one target with one credential. */
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

/** With the name that the target knows the model by, where it stands there. */
function pathFor({ model }: Target, { match, path }: OutgoingCall): string {
  return match.route.modelIn === 'path' && model !== null ? withSegment(path, match.openSegment, model) : path;
}

const jsonType = pattern(/^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;[ \t]*charset="?utf-8"?)?$/i);

/**
 * JSON that came under another name (`curl -d` sends a form's) goes on under its own; so does what is declared to be in
 * another charset than the UTF-8 it was read as: aiohttp decodes by the declared charset, and would read other fields in the
 * same bytes.
 */
function describeBody(headers: Record<string, string>, body: RequestBody, length: number | null): void {
  if (length !== null) headers['content-length'] = String(length);
  const isNamedJson = jsonType.test(headers['content-type'] ?? '');
  if (body.contentType === 'application/json' && !isNamedJson) headers['content-type'] = 'application/json';
}

/** Nobody here has read it, so it may be compressed; the length of one in chunks is told by its end. */
function describePassedBody(headers: Record<string, string>, client: IncomingMessage, length: number | null): void {
  if (length) headers['content-length'] = String(length);
  const encoding = client.headers['content-encoding'];
  if (encoding !== undefined) headers['content-encoding'] = encoding;
}
