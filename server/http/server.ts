/** The listening socket: bounds on what a connection may do, and an orderly end. Knows nothing of what requests mean. */
import http, { type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../contract/errors.ts';
import { createRequestId } from '../exchange/exchange-trace.ts';
import { servedApis } from '../wire/registry.ts';
import { limitConnections } from './connection-limit.ts';
import { errorHeaders } from './send-error.ts';

interface ListenOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  /** Time for all headers of a request; the default suits everyone but a test. */
  headersTimeoutMs?: number;
}

export interface ListeningServer {
  host: string;
  port: number;
  /** Requests under way. */
  readonly active: number;
  /** Takes no new connections, lets requests end for at most `drainMs`, then closes what is left. */
  stop(drainMs: number): Promise<void>;
}

/** Slow senders: time for all headers, and for a whole request with its upload. */
const defaultHeadersTimeoutMs = 30_000;
const requestTimeoutMs = 300_000;
/** People think between two requests; a new connection costs more than an idle one. */
const keepAliveTimeoutMs = 75_000;
const maxHeaderBytes = 32 * 1024;
const cutOffMs = 1_000;

/** Rejects with the system's error, such as EADDRINUSE. */
export async function listen(listener: RequestListener, options: ListenOptions): Promise<ListeningServer> {
  const { host, port, headersTimeoutMs = defaultHeadersTimeoutMs } = options;
  let active = 0;
  let onIdle: (() => void) | undefined;
  const server = http.createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    // Node would answer with an empty 400; the guards know what to say.
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs),
  });
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    active++;
    response.once('close', () => {
      active--;
      if (active === 0) onIdle?.();
    });
    listener(request, response);
  };
  server.on('request', serve);
  // Whoever reads a body says "100 Continue" first (`sendContinue`), so that what is refused is never sent.
  server.on('checkContinue', serve);
  server.on('checkExpectation', serve);
  const idleWithin = async (limitMs: number) => {
    const whenIdle = (resolve: () => void) => {
      onIdle = resolve;
    };
    if (active > 0) await idleOrLate(whenIdle, limitMs);
  };
  limitConnections(server);
  server.on('clientError', answerClientError);
  server.on('connect', (_request, socket) => answerRaw(socket, noProxy()));
  await bind(server, host, port);
  const address = server.address();
  return {
    host,
    port: typeof address === 'object' && address ? address.port : port,
    get active() {
      return active;
    },
    async stop(drainMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await idleWithin(drainMs);
      server.closeAllConnections();
      await closed;
      // What was cut off hears of it a moment later, and has its record to write.
      await idleWithin(cutOffMs);
    },
  };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function idleOrLate(whenIdle: (resolve: () => void) => void, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    whenIdle(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** What is not HTTP at all never reaches the application, but is answered in the same shape. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  answerRaw(socket, describeClientError(error.code));
}

function answerRaw(socket: Duplex, answer: GatewayError): void {
  // Whose client it is, nobody knows.
  const [api] = servedApis;
  const body = api.writeError(answer);
  const status = api.statusOf(answer);
  const headers = {
    ...errorHeaders(api, answer, createRequestId()),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

function noProxy(): GatewayError {
  return new GatewayError('method_not_allowed', 'Sluice is no proxy for connections: it is called by its own address.');
}

function describeClientError(code: string | undefined): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new GatewayError(
      'headers_too_large',
      `The request's URL and headers are longer than ${maxHeaderBytes} bytes.`,
    );
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError('request_timeout', 'The request did not arrive completely in time.');
  }
  return new GatewayError('malformed_http', 'The request is not valid HTTP.');
}
