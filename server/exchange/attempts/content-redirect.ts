/**
 * Redirects of video downloads. A provider that keeps videos in object storage answers with a redirect, often to a
 * presigned URL. Sluice follows it without any credential of the provider or the client. On all other routes a redirect
 * is an error, since following it would disclose the request, and its response, to a third party.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { OutgoingRequest } from '../../transport/transport.ts';
import { redactText } from '../redact/redact-credential.ts';
import type { CallResult } from './attempt.ts';

const maxHops = 3;

/** Request headers that storage needs: mainly which bytes the client wants. */
const forwardedHeaders = ['accept', 'range', 'if-range', 'if-none-match', 'if-modified-since', 'user-agent'];

/**
 * Follows `result` while it is a redirect that may be followed. `firstRequest` is the request that it answers; `send` makes the
 * next one.
 */
export async function followContent(
  result: CallResult,
  firstRequest: OutgoingRequest,
  client: IncomingHttpHeaders,
  send: (request: OutgoingRequest) => Promise<CallResult>,
): Promise<CallResult> {
  let latest = result;
  let from = new URL(firstRequest.path, firstRequest.origin);
  for (let hop = 0; hop < maxHops && latest.kind === 'redirected'; hop++) {
    const url = contentLocation(latest.location, from, firstRequest.origin);
    if (!url) break;
    from = url;
    latest = await send({
      ...firstRequest,
      origin: url.origin,
      path: url.pathname + url.search,
      headers: plainHeaders(client),
    });
  }
  return latest;
}

/**
 * Allows only https or the provider's own origin, so that no other service on this machine or its network can be reached.
 */
export function contentLocation(location: string, from: URL, providerOrigin: string): URL | null {
  if (!URL.canParse(location, from.href)) return null;
  const url = new URL(location, from);
  if (url.username || url.password) return null;
  return url.protocol === 'https:' || url.origin === providerOrigin ? url : null;
}

/** The location of a redirect that is not followed, for people: without signature and secrets. */
export function shownLocation(location: string, secrets: readonly string[]): string {
  return redactText(withoutSignature(location), secrets);
}

/** A redirect target without its signature, for messages and logs. */
export function withoutSignature(location: string): string {
  return location
    .replace(/[?#].*$/s, '')
    .replace(/\/\/[^/@]*@/, '//')
    .slice(0, 200);
}

function plainHeaders(client: IncomingHttpHeaders): Record<string, string> {
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  for (const name of forwardedHeaders) {
    const value = client[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}
