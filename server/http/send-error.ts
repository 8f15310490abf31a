import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';

/** Time a client gets to notice the answer and stop sending, before its connection is closed. */
const lingerMs = 2_000;
/** A rest of the body up to this size is simply read, which keeps the connection. */
const readableRestBytes = 256 * 1024;

/**
 * Answers a request with an error in OpenAI's shape, at once, even while its body is still coming. Returns what was said.
 * With headers already out there is nothing left to say: the connection is closed, so that it cannot pass for an end.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
  requestId: string,
): GatewayError {
  const error = toGatewayError(thrown);
  if (response.headersSent) {
    response.destroy();
    return error;
  }
  const body = Buffer.from(JSON.stringify(error.toBody()));
  const headers: Record<string, string | number> = {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'x-sluice-request-id': requestId,
  };
  if (error.kind.retryable === false) headers['x-should-retry'] = 'false';
  if (error.code === 'missing_key' || error.code === 'invalid_key') headers['www-authenticate'] = 'Bearer';
  if (!request.complete) discardBody(request, response);
  response.writeHead(error.kind.status, headers).end(body);
  return error;
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
 * What the client still sends is thrown away. Closing right here would reset the connection and could lose the answer, so
 * a long body gets a moment to end.
 */
function discardBody(request: IncomingMessage, response: ServerResponse): void {
  request.unpipe();
  request.resume();
  request.on('error', () => {});
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (announced <= readableRestBytes) return;
  response.setHeader('connection', 'close');
  const timer = setTimeout(() => request.destroy(), lingerMs);
  request.once('close', () => clearTimeout(timer));
}
