import type { IncomingHttpHeaders } from 'node:http';
import type { Api } from '../../apis/core/api.ts';
import type { Framing } from '../../apis/core/framing.ts';
import type { GatewayError } from '../../contract/errors.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';

/** Upstream response headers that the client gets. All others (cookies, hop-by-hop headers, server details) are dropped. */
const forwardedHeaders = new Set([
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

/** The URL to which Google expects the file's content; uploads to it would bypass Sluice. Source: Google, "Files API". */
const uploadUrl = 'x-goog-upload-url';

/**
 * The same place at the address that the client called. A proxy in front of Sluice may have ended its TLS; a forged header
 * misleads only its own sender.
 */
function asCalled({ host = '', 'x-forwarded-proto': scheme }: IncomingHttpHeaders, url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return `${scheme === 'https' ? scheme : 'http'}://${host}${pathname.slice(Math.max(0, pathname.lastIndexOf('/upload/')))}${search}`;
}

/** Rate-limit headers, as named by OpenAI, Anthropic, Mistral and others. */
const forwardedPrefix = boundedPattern(
  /^(?:(?:x-|anthropic-)?ratelimit(?:bysize)?(?:-|$)|x-rate-limit-|openai-|x-goog-upload-)/,
);

export function isEventStream(headers: ResponseHeaders, framing: Framing): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && framing.isStream(type);
}

/** The upstream's rate limits would contradict those that Sluice enforces for the key. */
const rateLimitPrefix = boundedPattern(/^(?:x-)?ratelimit(?:-|$)/);

/**
 * The location of a created object, such as a realtime call. Only a path is forwarded, which the client calls at Sluice; an
 * absolute URL would lead the client, with its key, to the provider.
 */
const relativePath = boundedPattern(/^\/(?:[^/\\]|$)/);

/**
 * Passes on the upstream's `x-request-id`, which the provider's support may ask for; adds Sluice's own if there is none.
 */
export function clientHeaders(
  upstream: ResponseHeaders,
  requestId: string,
  {
    framing,
    request,
    hasOwnLimits = false,
  }: { framing: Framing; request: IncomingHttpHeaders; hasOwnLimits?: boolean },
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'x-request-id': requestId, 'x-sluice-request-id': requestId };
  for (const name in upstream) {
    const value = upstream[name];
    if (hasOwnLimits && rateLimitPrefix.test(name)) continue;
    if (value !== undefined && (forwardedHeaders.has(name) || forwardedPrefix.test(name))) headers[name] = value;
  }
  if (headers[uploadUrl] !== undefined) headers[uploadUrl] = asCalled(request, String(headers[uploadUrl]));
  const { location } = upstream;
  if (typeof location === 'string' && relativePath.test(location)) headers.location = location;
  if (isEventStream(upstream, framing)) {
    // Events may be added or removed, and no proxy may transform or buffer the stream.
    delete headers['content-length'];
    headers['cache-control'] ??= 'no-cache';
    headers['x-accel-buffering'] = 'no';
  }
  return headers;
}

/** The headers of Sluice's own errors. */
export function errorHeaders(api: Api, error: GatewayError, requestId: string): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': api.errorType,
    'cache-control': 'no-store',
    [api.requestIdHeader]: requestId,
    'x-sluice-request-id': requestId,
    ...api.errorHeaders(error),
    ...error.headers,
  };
  if (error.retryAfterSeconds !== null) headers['retry-after'] = String(error.retryAfterSeconds);
  return headers;
}
