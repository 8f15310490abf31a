import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { CompiledProvider } from '../routing/snapshot.ts';
import { isCredentialName } from '../wire/client-credentials.ts';
import { containsSecret } from './find-secrets.ts';

/** Counts how often a request has passed through a Sluice, so that a circle of gateways ends. */
const hopHeader = 'x-sluice-hops';
const maxHops = 4;

/**
 * Headers of the client that never reach an upstream, besides its credentials: those of its connection, what names an
 * account (that is the credential's to say), what would tell where the client sits, and what says of a request that it is
 * another than it was admitted as.
 */
const dropped = new Set([
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
  // Sluice has read the body, so it is not compressed whatever this says.
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

/** What of a client's headers may go out: those that concern the request itself and carry nothing of `presented`. */
export function passableHeaders(client: IncomingHttpHeaders, presented: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const connectionNames = namedByConnection(client.connection);
  for (const name in client) {
    const value = client[name];
    if (typeof value !== 'string' || dropped.has(name) || droppedPrefix.test(name)) continue;
    if (connectionNames?.has(name) || isCredentialName(name) || containsSecret(value, presented)) continue;
    headers[name] = value;
  }
  // Usage is read from the reply's bytes and those go to the client as they are, so they must not be compressed.
  headers['accept-encoding'] = 'identity';
  headers[hopHeader] = String(hopsOf(client) + 1);
  return headers;
}

/** What is sent with an attempt: what may pass of the client's headers, then the provider's, then the credential. */
export function outgoingHeaders(
  passable: Readonly<Record<string, string>>,
  provider: CompiledProvider,
  credential: UpstreamCredential | null,
): Record<string, string> {
  return { ...passable, ...provider.headers, ...credential?.headers };
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
