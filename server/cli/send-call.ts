/** Uses node:http directly, because a proxy in the environment must not see the key. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Call {
  /** The origin at which the running Sluice listens. */
  origin: string;
  secret: string;
  method: string;
  /** Includes the query: `/v1/chat/completions`. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface CallReply {
  requestId: string;
  status: number;
  body: string;
}

/** Rejects if the running Sluice cannot be reached or breaks off the connection. */
export function sendCall({ origin, secret, method, path, headers, body }: Call): Promise<CallReply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${origin}${path}`,
      { method, headers: { ...headers, authorization: `Bearer ${secret}` }, agent: false },
      (response) => {
        const requestId = String(response.headers['x-sluice-request-id'] ?? '');
        const status = response.statusCode ?? 0;
        text(response).then((body) => resolve({ requestId, status, body }), reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
