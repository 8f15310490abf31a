import type { IncomingHttpHeaders } from 'node:http';
import { isCredentialName } from '../../apis/core/requests/client-credentials.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';
import { containsSecret } from '../redact/find-secrets.ts';

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
