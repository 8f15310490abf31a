import { pattern } from '../bounded-pattern.ts';
import type { ResponseHeaders } from '../transport/transport.ts';
import type { Framing } from '../wire/framing.ts';

/** What of an upstream's headers the client gets; all else (cookies, hop-by-hop, server details) stays here. */
const passed = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'content-language',
  'content-range',
  'accept-ranges',
  'cache-control',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-request-id',
  'request-id',
]);

/** Providers tell their rate limits under many names. */
const passedPrefix = pattern(/^(?:(?:x-|anthropic-)?ratelimit(?:bysize)?(?:-|$)|x-rate-limit-|openai-)/);

export function isEventStream(headers: ResponseHeaders, framing: Framing): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && framing.isStream(type);
}

/** What an upstream tells of its own limits would contradict those that Sluice holds the client to. */
const rateLimitPrefix = pattern(/^(?:x-)?ratelimit(?:-|$)/);

/**
 * The upstream's `x-request-id` goes to the client, who may need it for the provider's support; ours stands in for it where
 * there is none.
 */
export function replyHeaders(
  upstream: ResponseHeaders,
  requestId: string,
  { framing, tellsOwnLimits = false }: { framing: Framing; tellsOwnLimits?: boolean },
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'x-request-id': requestId, 'x-sluice-request-id': requestId };
  for (const name in upstream) {
    const value = upstream[name];
    if (tellsOwnLimits && rateLimitPrefix.test(name)) continue;
    if (value !== undefined && (passed.has(name) || passedPrefix.test(name))) headers[name] = value;
  }
  if (isEventStream(upstream, framing)) {
    // An event may be added or taken out, and nothing between may keep or collect them.
    delete headers['content-length'];
    headers['cache-control'] ??= 'no-cache';
    headers['x-accel-buffering'] = 'no';
  }
  return headers;
}
