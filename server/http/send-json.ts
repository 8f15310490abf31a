import type { ServerResponse } from 'node:http';

/** Sends a 200 with JSON. */
export function sendJson(response: ServerResponse, value: unknown, requestId: string): void {
  const body = Buffer.from(JSON.stringify(value));
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-request-id': requestId,
      'x-sluice-request-id': requestId,
    })
    .end(body);
}
