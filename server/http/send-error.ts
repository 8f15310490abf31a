import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { Api } from '../wire/api.ts';

interface ErrorAnswer {
  error: GatewayError;
  /** Whose clients have to understand it. */
  api: Api;
  requestId: string;
}

/** Time a client gets to notice the answer and stop sending, before its connection is closed. */
const lingerMs = 2_000;
/** A rest of the body up to this size is simply read, which keeps the connection. */
const readableRestBytes = 256 * 1024;

/**
 * Answers a request with an error as its API's clients expect it, at once, even while its body is still coming.
 * With headers already out there is nothing left to say: the connection is closed, so that it cannot pass for an end.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  { error, api, requestId }: ErrorAnswer,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = Buffer.from(api.writeError(error));
  const restBytes = mayStillCome(request);
  if (restBytes > readableRestBytes) response.setHeader('connection', 'close');
  response.writeHead(api.statusOf(error), { ...errorHeaders(api, error, requestId), 'content-length': body.length });
  if (restBytes === 0) response.end(body);
  else answerInMidBody(request, response, body);
}

/** How much of its body, at most. Right after the headers even a request without one is not called complete yet. */
function mayStillCome({ complete, headers }: IncomingMessage): number {
  if (complete) return 0;
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}

/** What every error of Sluice's own is sent with. */
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

/** Anything that is not a GatewayError is a fault of Sluice's own; its text is for the log, not for the client. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError(
    'internal',
    'Sluice failed to handle this request. Its log says why; nothing was charged by Sluice.',
    { cause: thrown },
  );
}

/**
 * The answer goes out whole and at once; what the client still sends is read and thrown away. Only then, or when it has
 * had its moment, does the response end: Node closes a connection it will not use again together with the end, and
 * closing with unread bytes resets it, which can take the answer away from a client that sends first and reads then.
 */
function answerInMidBody(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  request.unpipe();
  request.resume();
  request.on('error', () => {});
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(() => {
    response.once('finish', () => request.destroy());
    end();
  }, lingerMs);
  request.once('end', end);
  request.once('close', end);
}
