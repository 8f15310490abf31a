/** Who may come in: Host, Origin and key. Pure checks that throw a GatewayError. */
import { hash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../contract/errors.ts';
import { keyChecksumHolds, keyPrefix } from '../routing/key-secret.ts';
import type { CompiledKey, Snapshot } from '../routing/snapshot.ts';

const isAscii = /^[\x20-\x7e]*$/;
const loopbackHost = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?$/i;

/**
 * Against DNS rebinding: a web page whose name was made to point at this machine still sends its own name. `host` is the
 * header; names the person has allowed (for use in the LAN) pass too.
 */
export function checkHost(host: string | undefined, allowedHosts: readonly string[]): void {
  if (host !== undefined && loopbackHost.test(host)) return;
  const name = host?.replace(/:\d*$/, '') ?? '';
  if (allowedHosts.includes(name) || allowedHosts.includes('*')) return;
  throw new GatewayError(
    'host_refused',
    `Host "${name.slice(0, 100)}" is not allowed. Use http://127.0.0.1 or http://localhost as the base URL, or add the name to settings.allowedHosts.`,
  );
}

/** Browsers send Origin; programs do not. A page may call only if the person has allowed its origin, or it is our own. */
export function checkOrigin(
  origin: string | undefined,
  host: string | undefined,
  allowedOrigins: readonly string[],
): void {
  if (origin === undefined || origin === `http://${host}` || allowedOrigins.includes(origin)) return;
  throw new GatewayError(
    'origin_refused',
    `Requests from the web page ${origin.slice(0, 100)} are not allowed. To allow them add that origin to settings.allowedOrigins.`,
  );
}

/**
 * The key whose secret a request presents (`secret` is undefined where it presents none). A secret is looked up by its
 * SHA-256, so the time that takes says nothing about other secrets, and the found hash is compared in constant time. Only
 * secrets that were right are remembered as they are.
 */
export function authenticate(snapshot: Snapshot, secret: string | undefined, nowMs: number): CompiledKey {
  if (!secret) {
    throw new GatewayError(
      'missing_key',
      'Missing bearer authentication in header. Send "Authorization: Bearer sk-sluice-…" with a key made in Sluice.',
    );
  }
  const key = findKey(snapshot, secret);
  if (!key) throw unknownKey(secret);
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

/** The key that a request presents; null if `authenticate` would refuse it. */
export function validKey(snapshot: Snapshot, secret: string | undefined, nowMs: number): CompiledKey | null {
  const key = secret === undefined ? undefined : findKey(snapshot, secret);
  return key?.enabled && (key.expiresAtMs === null || key.expiresAtMs > nowMs) ? key : null;
}

/**
 * The keys that requests have presented, by their secrets: hashing one takes longer than all else that admits a request. Of
 * one snapshot only, so that a key that was changed or removed is looked for anew.
 */
const presentedKeys = new WeakMap<Snapshot['keys'], Map<string, CompiledKey>>();

function findKey({ keys }: Snapshot, secret: string): CompiledKey | undefined {
  const presented = presentedKeys.get(keys);
  const known = presented?.get(secret);
  if (known) return known;
  const found = lookUpKey(keys, secret);
  if (!found) return undefined;
  if (presented) presented.set(secret, found);
  else presentedKeys.set(keys, new Map([[secret, found]]));
  return found;
}

/** Node reads headers as latin1. A client may have meant that (`fetch`), or sent the bytes of UTF-8 (`curl`). */
function lookUpKey(keys: Snapshot['keys'], secret: string): CompiledKey | undefined {
  for (const reading of isAscii.test(secret) ? [secret] : [secret, Buffer.from(secret, 'latin1')]) {
    const digest = hash('sha256', reading, 'binary');
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

/** As OpenAI does it: the head, stars, the last four. Short ones are all stars. */
export function maskSecret(secret: string): string {
  if (secret.length < 20) return '*'.repeat(8);
  return `${secret.slice(0, secret.startsWith(keyPrefix) ? keyPrefix.length : 3)}********${secret.slice(-4)}`;
}
