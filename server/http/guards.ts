/** Checks of Host, Origin and key, which throw a GatewayError, and what pages of other origins are answered (CORS). */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isDecodable } from '../apis/core/requests/segments.ts';
import { GatewayError } from '../contract/errors.ts';
import { keyChecksumHolds, keyPrefix } from '../routing/key-secret.ts';
import type { CompiledKey, Snapshot, SourceRules } from '../routing/snapshot.ts';

const isAscii = /^[\x20-\x7e]*$/;
const loopbackHost = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?$/i;

/**
 * Prevents DNS rebinding: a page whose host name resolves to this machine still sends its own name as Host. Allowed hosts
 * are accepted, too.
 */
export function checkHost(host: string | undefined, { allowsHost, publicOrigin }: SourceRules): void {
  if (host !== undefined && loopbackHost.test(host)) return;
  const name = host?.replace(/:\d*$/, '') ?? '';
  if (allowsHost(name)) return;
  const address = publicOrigin ?? 'http://127.0.0.1 or http://localhost';
  throw new GatewayError(
    'host_refused',
    `Host "${name.slice(0, 100)}" is not allowed. Use ${address} as the base URL, or add the name to settings.allowedHosts.`,
  );
}

/** Pages may call only from allowed origins or Sluice's own. Programs other than browsers send no Origin. */
export function checkOrigin(origin: string | undefined, host: string | undefined, { allowsOrigin }: SourceRules): void {
  if (origin === undefined || origin === `http://${host}` || allowsOrigin(origin)) return;
  throw new GatewayError(
    'origin_refused',
    `Requests from the web page ${origin.slice(0, 100)} are not allowed. To allow them add that origin to settings.allowedOrigins.`,
  );
}

const strayPercent = /%(?![0-9a-f]{2})/i;

/**
 * Refuses a `%` that begins no escape, and a path whose escapes are not UTF-8, which Express and others cannot decode.
 * Bytes of other encodings may be meant in a query.
 */
export function checkUrl(url = '/'): void {
  if (!url.includes('%')) return;
  const queryStart = url.indexOf('?');
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  if (isDecodable(path) && !strayPercent.test(url)) return;
  throw new GatewayError('malformed_http', 'The URL is not valid: a "%" must begin an escape such as %25, of UTF-8.');
}

/** Throws GatewayError for a request that a web page of another origin may have caused. */
export function checkSource({ host, origin }: IncomingHttpHeaders, rules: SourceRules): void {
  checkHost(host, rules);
  checkOrigin(origin, host, rules);
}

/**
 * Finds the key of a presented secret. The look-up is by SHA-256, so that its timing reveals nothing; the hash found is
 * also compared in constant time, whatever a Map does. Only valid secrets are cached unhashed.
 */
export function authenticate(snapshot: Snapshot, secret: string | undefined, nowMs: number): CompiledKey {
  if (!secret) {
    throw new GatewayError(
      'missing_key',
      'Missing bearer authentication in header. Send "Authorization: Bearer <key>" with a key made in Sluice (sk-sluice-…).',
    );
  }
  const key = findKey(snapshot, secret);
  if (!key || isReplaced(key, nowMs)) throw unknownKey(secret);
  if (!key.enabled)
    throw new GatewayError(
      'key_disabled',
      `The key "${key.name}" is disabled. Enable it in Sluice, or use another one.`,
    );
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) {
    throw new GatewayError(
      'key_expired',
      `The key "${key.name}" expired on ${new Date(key.expiresAtMs).toISOString()}. Create a new one in Sluice.`,
    );
  }
  return key;
}

/** The key of a presented secret; null if `authenticate` would refuse it. */
export function validKey(snapshot: Snapshot, secret: string | undefined, nowMs: number): CompiledKey | null {
  const key = secret === undefined ? undefined : findKey(snapshot, secret);
  return key?.enabled && !isReplaced(key, nowMs) && (key.expiresAtMs === null || key.expiresAtMs > nowMs) ? key : null;
}

/** The presented secret was replaced by a rotation, and its grace period is over. */
function isReplaced({ replacedAtMs }: CompiledKey, nowMs: number): boolean {
  return replacedAtMs !== null && replacedAtMs <= nowMs;
}

/**
 * Caches keys by presented secret, because hashing a secret takes longer than the rest of admission. One cache for each
 * snapshot, so that a changed or removed key is looked up again.
 */
const keysBySecretOf = new WeakMap<Snapshot['keys'], Map<string, CompiledKey>>();

function findKey({ keys }: Snapshot, secret: string): CompiledKey | undefined {
  const keysBySecret = keysBySecretOf.get(keys);
  const cached = keysBySecret?.get(secret);
  if (cached) return cached;
  const key = lookUpKey(keys, secret);
  if (!key) return undefined;
  if (keysBySecret) keysBySecret.set(secret, key);
  else keysBySecretOf.set(keys, new Map([[secret, key]]));
  return key;
}

/** Node decodes headers as latin1. `fetch` encodes them so, while `curl` sends UTF-8. */
function lookUpKey(keys: Snapshot['keys'], secret: string): CompiledKey | undefined {
  for (const encoding of isAscii.test(secret) ? [secret] : [secret, Buffer.from(secret, 'latin1')]) {
    const digest = hash('sha256', encoding, 'binary');
    const key = keys.get(digest);
    if (key && timingSafeEqual(Buffer.from(digest, 'latin1'), key.digest)) return key;
  }
  return undefined;
}

function unknownKey(secret: string): GatewayError {
  let hint = 'Keys are made in Sluice: in its window, or with "sluice key create".';
  if (!secret.startsWith(keyPrefix)) hint = `It is not a key of Sluice (those begin with ${keyPrefix}). ${hint}`;
  else if (!keyChecksumHolds(secret)) hint = 'It is mistyped or cut short: its checksum does not hold.';
  return new GatewayError('invalid_key', `Incorrect API key provided: ${maskSecret(secret)}. ${hint}`);
}

/** Like OpenAI: the beginning, asterisks, the last four characters; short ones are masked completely. */
export function maskSecret(secret: string): string {
  if (secret.length < 20) return '*'.repeat(8);
  return `${secret.slice(0, secret.startsWith(keyPrefix) ? keyPrefix.length : 3)}********${secret.slice(-4)}`;
}

/** Sends the CORS headers for an allowed origin; other origins get none, and there is no wildcard. */
export function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', '*, authorization');
  response.setHeader('vary', 'origin');
}

/** Whether this is a CORS preflight. */
export function isPreflight(request: IncomingMessage): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}

/**
 * Answers the CORS preflight of an allowed origin. Chromium 130 to 141, and browsers whose administrators still enforce Private
 * Network Access, ask in it whether a public page may call this machine.
 */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const isToPrivateNetwork = request.headers['access-control-request-private-network'] === 'true';
  if (isToPrivateNetwork) response.setHeader('access-control-allow-private-network', 'true');
  response
    .writeHead(204, {
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers':
        request.headers['access-control-request-headers'] ?? 'authorization, content-type',
      'access-control-max-age': '600',
    })
    .end();
}
