import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { CompiledProvider } from '../routing/snapshot.ts';

/** Counts how often a request has passed through a Sluice, so that a circle of gateways ends. */
const hopHeader = 'x-sluice-hops';
const maxHops = 4;

/**
 * Headers of the client that never reach an upstream: those of its connection, its own credentials, what names an
 * account (that is the credential's to say), and what would tell the upstream where the client sits.
 */
const dropped = new Set([
  'authorization',
  'api-key',
  'x-api-key',
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'accept-encoding',
  'cookie',
  'origin',
  'referer',
  'forwarded',
  'via',
  'openai-organization',
  'openai-project',
  hopHeader,
]);

const droppedPrefix = /^(?:x-forwarded-|x-real-ip|x-sluice-|sec-|cf-)/;

/** What is sent with an attempt: the client's headers that concern the request itself, then the provider's, then the credential. */
export function outgoingHeaders(
  client: IncomingHttpHeaders,
  provider: CompiledProvider,
  credential: UpstreamCredential | null,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const connectionNames = namedByConnection(client.connection);
  for (const name in client) {
    const value = client[name];
    if (typeof value !== 'string' || dropped.has(name) || droppedPrefix.test(name)) continue;
    if (connectionNames?.has(name)) continue;
    headers[name] = value;
  }
  // Usage is read from the reply's bytes and those go to the client as they are, so they must not be compressed.
  headers['accept-encoding'] = 'identity';
  headers[hopHeader] = String(hopsOf(client) + 1);
  return Object.assign(headers, provider.headers, credential?.headers);
}

/** Headers that are for the next hop alone. Nearly every client just says `keep-alive`, which names none. */
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
