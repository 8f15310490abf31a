/**
 * Where clients put keys: the one place that Sluice reads a key from, and all that may carry one for somebody else. Nothing
 * of it goes to an upstream, which gets the provider's credential alone.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isSecretHeader } from '../contract/secret-header.ts';

/** Names that `isSecretHeader` does not know; some relays take their key, or the provider's, by them. */
const moreNames = /authori[sz]ation|(?:^|[-_.])(?:auth|sig|jwt|bearer|passwd|pwd|passphrase)$/i;
/** Of the other names those that end like a key's and say which page, which part or which attempt is meant. */
const openNames =
  /(?:idempotency|cache|affinity|partition|sort)[-_]?key$|(?:page|next|continuation|cursor)[-_]?token$/i;
/** Asked for each header of each request. */
const judged = new Map<string, boolean>();
const maxJudged = 1_000;
/** Of a longer one the end is looked at. */
const maxNameLength = 100;

/** The secret of `Authorization: Bearer …`; a secret may hold spaces itself. */
export function bearerSecret(authorization: string | undefined): string | null {
  if (!authorization) return null;
  const space = authorization.indexOf(' ');
  if (space === -1 || authorization.slice(0, space).toLowerCase() !== 'bearer') return null;
  return trimSecret(authorization.slice(space + 1)) || null;
}

/** The headers in which clients of OpenAI, Azure, Anthropic and Google put a key. */
const keyHeaders = ['api-key', 'x-api-key', 'x-goog-api-key'];

/**
 * The keys that a request presents, whether they are good or not, wherever the clients of any API put them: the first one
 * counts, and none of them goes anywhere. `query` has its `?`, or is empty.
 */
export function presentedKeys(headers: IncomingHttpHeaders, query: string): readonly string[] {
  const bearer = bearerSecret(headers.authorization);
  const keys = bearer === null ? [] : [bearer];
  for (const name of keyHeaders) {
    const value = headers[name];
    if (typeof value === 'string') addKey(keys, value);
  }
  // Of several the first: each is looked for in all that is noted.
  if (query.includes('key=')) addKey(keys, new URLSearchParams(query).get('key') ?? '');
  return keys;
}

function addKey(keys: string[], value: string): void {
  const key = trimSecret(value);
  if (key !== '' && !keys.includes(key)) keys.push(key);
}

/** Whether a header or query parameter of that name usually carries a credential. */
export function isCredentialName(name: string): boolean {
  if (name.length > maxNameLength) return judge(name.slice(-maxNameLength));
  let isCredential = judged.get(name);
  if (isCredential === undefined) {
    isCredential = judge(name);
    if (judged.size < maxJudged) judged.set(name, isCredential);
  }
  return isCredential;
}

function judge(name: string): boolean {
  return (isSecretHeader(name) || moreNames.test(name)) && !openNames.test(name);
}

/** Without the spaces at its ends: a header cannot carry them. Only those of ASCII: others may be half a letter there. */
export function trimSecret(secret: string): string {
  let start = 0;
  let end = secret.length;
  while (start < end && secret.charCodeAt(start) <= 0x20) start++;
  while (end > start && secret.charCodeAt(end - 1) <= 0x20) end--;
  return secret.slice(start, end);
}
