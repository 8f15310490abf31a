import type { IncomingMessage, ServerResponse } from 'node:http';

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
