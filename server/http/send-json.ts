import type { ServerResponse } from 'node:http';

/** Answers 200 with JSON of Sluice's own. */
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
