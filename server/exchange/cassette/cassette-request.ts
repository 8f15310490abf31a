/** A request as a cassette compares and stores it. */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { framingOf } from '../../apis/core/streams/sse-framing.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import { configuredSecrets } from '../redact/configured-secrets.ts';
import type { RequestBody } from '../request/request-body.ts';
import type { CassetteRequest } from './cassette-deck.ts';

interface Received {
  request: IncomingMessage;
  match: RouteMatch;
  body: RequestBody;
  trace: { id: string; presentedKeys: readonly string[] };
  snapshot: Snapshot;
}

export async function cassetteRequestOf({ request, match, body, trace, snapshot }: Received): Promise<CassetteRequest> {
  const { method = 'GET', url = '/', headers } = request;
  return {
    id: trace.id,
    method,
    url,
    label: match.label,
    wire: match.route.wire.name,
    headers,
    body: body.size === 0 ? null : await bytesOf(body),
    // Recordings are shared with a program's tests, so that even a word is removed that is a credential.
    secrets: [...new Set([...trace.presentedKeys, ...configuredSecrets(snapshot).all])],
    keepAlive: framingOf(match.route).keepAlive,
  };
}

async function bytesOf(body: RequestBody): Promise<Buffer> {
  if (body.captured) return body.captured;
  const prepared = await body.sendable({ model: null, askUsage: false });
  const content = prepared.open();
  return Buffer.isBuffer(content) ? content : buffer(content);
}
