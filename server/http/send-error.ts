import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Api } from '../apis/core/api.ts';
import type { GatewayError } from '../contract/errors.ts';
import { errorHeaders } from '../exchange/answer/client-response.ts';
import type { LocalReply } from '../exchange/answer/local-reply.ts';
import { Redactor } from '../exchange/redact/redactor.ts';
import { after } from '../ground/timers.ts';

interface ErrorAnswer {
  error: GatewayError;
  /** The API whose error format is used. */
  api: Api;
  requestId: string;
  /** The client's keys and the providers' credentials. An error may quote what the client wrote, but no secret. */
  secrets: readonly string[];
}

/** Time for a client to notice the response and stop sending before its connection is closed. */
const lingerMs = 2_000;
/** A remaining body up to this size is read, so that the connection can be kept. */
const readableRestBytes = 256 * 1024;

/**
 * Sends an error in the API's format, even while the request body is still being sent. If headers were sent already, the
 * connection is broken, so that the response cannot pass for complete; then the result is null.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  { error, api, requestId, secrets }: ErrorAnswer,
): LocalReply | null {
  if (response.headersSent) {
    response.destroy();
    return null;
  }
  const body = new Redactor(secrets).body(Buffer.from(api.writeError(error)));
  const restBytes = mayStillCome(request);
  if (restBytes > readableRestBytes) response.setHeader('connection', 'close');
  const status = api.statusOf(error);
  const headers = { ...errorHeaders(api, error, requestId), 'content-length': String(body.length) };
  response.writeHead(status, headers);
  if (restBytes === 0) response.end(body);
  else answerInMidBody(request, response, body);
  return { status, headers, body };
}

/** The most bytes of the body that may still arrive. Right after the headers, `complete` is false even without a body. */
function mayStillCome({ complete, headers }: IncomingMessage): number {
  if (complete) return 0;
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}

/**
 * Sends the response at once, then reads and discards the rest of the request until its end or `lingerMs`, and only then ends
 * the response: that closes the connection, and closing with unread bytes resets it, so that a client that sends everything
 * before it reads could lose the response.
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
  const timer = after(() => {
    response.once('finish', () => request.destroy());
    end();
  }, lingerMs);
  request.once('end', end);
  request.once('close', end);
}
