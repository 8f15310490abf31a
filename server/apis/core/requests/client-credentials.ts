/**
 * Where clients put keys. The only module that reads a client's key and that decides which headers and parameters carry
 * credentials. None of them reaches an upstream, which gets only the provider's credential.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isSecretHeader } from '../../../contract/secret-shape.ts';

/** Names that `isSecretHeader` does not cover; some relays read their own or the provider's key from them. */
const moreNames = /authori[sz]ation|(?:^|[-_.])(?:auth|sig|jwt|bearer|passwd|pwd|passphrase)$/i;
/** Exceptions: names that end like a key's but select a page, a partition or an attempt. */
const openNames =
  /(?:idempotency|cache|affinity|partition|sort)[-_]?key$|(?:page|next|continuation|cursor)[-_]?token$/i;
/** Cache, since this is checked for each header of each request. */
const knownNames = new Map<string, boolean>();
const maxKnownNames = 1_000;
/** Longer names are examined only at their end. */
const maxNameLength = 100;

/** The secret of `Authorization: Bearer …`, which may contain spaces; null if there is none. */
export function bearerSecret(authorization: string | undefined): string | null {
  if (!authorization) return null;
  const space = authorization.indexOf(' ');
  if (space === -1 || authorization.slice(0, space).toLowerCase() !== 'bearer') return null;
  return trimSecret(authorization.slice(space + 1)) || null;
}

/** The headers in which clients of Azure, Anthropic and Google put a key; OpenAI's use `Authorization`. */
const keyHeaders = ['api-key', 'x-api-key', 'x-goog-api-key'];

/**
 * All keys that a request presents, valid or not, in any API's way. The first one counts; none is forwarded. `query`
 * includes the `?`, or is empty.
 */
export function presentedKeys(headers: IncomingHttpHeaders, query: string): readonly string[] {
  const bearer = bearerSecret(headers.authorization);
  const keys = bearer === null ? [] : [bearer];
  for (const name of keyHeaders) {
    const value = headers[name];
    if (typeof value === 'string') addKey(keys, value);
  }
  const protocols = headers['sec-websocket-protocol'];
  if (protocols !== undefined) addProtocolKeys(keys, protocols);
  // Only the first `key` parameter counts: each presented key is searched for in everything recorded.
  if (query.includes('key=')) addKey(keys, new URLSearchParams(query).get('key') ?? '');
  return keys;
}

const keyProtocol = 'openai-insecure-api-key.';

/** Browsers cannot set headers on a WebSocket, so OpenAI's clients there offer the key as a subprotocol. */
function addProtocolKeys(keys: string[], protocols: string): void {
  for (const protocol of protocols.split(',')) {
    const name = protocol.trim();
    if (name.startsWith(keyProtocol)) addKey(keys, name.slice(keyProtocol.length));
  }
}

function addKey(keys: string[], value: string): void {
  const key = trimSecret(value);
  if (key !== '' && !keys.includes(key)) keys.push(key);
}

/** Whether a header or query parameter of this name usually carries a credential. */
export function isCredentialName(name: string): boolean {
  if (name.length > maxNameLength) return judge(name.slice(-maxNameLength));
  let isCredential = knownNames.get(name);
  if (isCredential === undefined) {
    isCredential = judge(name);
    if (knownNames.size < maxKnownNames) knownNames.set(name, isCredential);
  }
  return isCredential;
}

function judge(name: string): boolean {
  return (isSecretHeader(name) || moreNames.test(name)) && !openNames.test(name);
}

/** Removes surrounding whitespace, which headers cannot carry. ASCII only: other bytes may be part of a character. */
export function trimSecret(secret: string): string {
  let start = 0;
  let end = secret.length;
  while (start < end && secret.charCodeAt(start) <= 0x20) start++;
  while (end > start && secret.charCodeAt(end - 1) <= 0x20) end--;
  return secret.slice(start, end);
}
