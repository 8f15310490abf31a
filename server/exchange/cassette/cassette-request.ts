/** A request as a cassette compares and stores it. */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isCredentialName } from '../../apis/core/requests/client-credentials.ts';
import { framingOf } from '../../apis/core/streams/sse-framing.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import { secretsOf } from '../redact/redact-credential.ts';
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
    secrets: [...new Set([...trace.presentedKeys, ...providerSecrets(snapshot)])],
    keepAlive: framingOf(match.route).keepAlive,
  };
}

async function bytesOf(body: RequestBody): Promise<Buffer> {
  if (body.captured) return body.captured;
  const prepared = await body.sendable({ model: null, askUsage: false });
  const content = prepared.open();
  return Buffer.isBuffer(content) ? content : buffer(content);
}

const secretsBySnapshot = new WeakMap<Snapshot, readonly string[]>();

/** Secrets of all providers, since one provider's answer may contain another's. Read once per snapshot. */
function providerSecrets(snapshot: Snapshot): readonly string[] {
  const cached = secretsBySnapshot.get(snapshot);
  if (cached) return cached;
  const secrets = [...snapshot.providers.values()].flatMap(({ credentials, headers }) => [
    ...credentials.flatMap((credential) => secretsOf([], credential)),
    ...Object.entries(headers).flatMap(([name, value]) => (isCredentialName(name) ? [withoutScheme(value)] : [])),
  ]);
  secretsBySnapshot.set(snapshot, secrets);
  return secrets;
}

function withoutScheme(value: string): string {
  return value.startsWith('Bearer ') ? value.slice('Bearer '.length) : value;
}
