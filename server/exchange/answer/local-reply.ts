import type { ServerResponse } from 'node:http';

/** A whole answer that no provider gave. */
export interface LocalReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Sends a 200 with JSON. Returns what was sent. */
export function sendJson(response: ServerResponse, value: unknown, requestId: string): LocalReply {
  const body = Buffer.from(JSON.stringify(value));
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-request-id': requestId,
    'x-sluice-request-id': requestId,
  };
  response.writeHead(200, headers).end(body);
  return { status: 200, headers, body };
}
