import type { IncomingMessage, ServerResponse } from 'node:http';

/** For a page whose origin has been admitted: what a browser needs to be told. Never a reflected or a wildcard origin for others. */
export function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', '*, authorization');
  response.setHeader('vary', 'origin');
}

/** Browsers ask so before a request that a form could not have made. */
export function isPreflight(request: IncomingMessage): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}

/** Answers the question that a browser asks before a request. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response
    .writeHead(204, {
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers':
        request.headers['access-control-request-headers'] ?? 'authorization, content-type',
      'access-control-max-age': '600',
    })
    .end();
}
