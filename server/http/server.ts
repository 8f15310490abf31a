/** The listening server: timeouts and limits of connections, clients that send too slowly, and graceful shutdown. */

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import http from 'node:http';
import type { Duplex } from 'node:stream';
import { servedApis } from '../apis/registry.ts';
import { GatewayError } from '../contract/errors.ts';
import { errorHeaders } from '../exchange/answer/client-response.ts';
import { createRequestId } from '../exchange/record/exchange-trace.ts';
import { Slots } from '../ground/collections.ts';
import { batchWrites } from '../ground/fast-paths.ts';
import { yieldToEventLoop } from '../ground/promises.ts';
import { descriptorLimit } from '../ground/resource-exhaustion.ts';
import { after, every } from '../ground/timers.ts';

/** Takes over connections that become WebSockets. */
export interface WebSocketUpgrades {
  /** If false, the request is answered as plain HTTP. */
  wants(request: IncomingMessage): boolean;
  /** `head`: bytes received after the request. */
  open(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Ends all of them; resolves when they have ended. */
  close(): Promise<void>;
}

interface ListenOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  /** Time for all headers of a request; set by tests only. */
  headersTimeoutMs?: number;
  webSockets?: WebSocketUpgrades;
}

export interface ListeningServer {
  host: string;
  port: number;
  readonly isDraining: boolean;
  /**
   * From now on each response ends its connection, so that clients and load balancers connect elsewhere. Idle connections stay:
   * a request may be on its way on them.
   */
  drain(): void;
  /** Ends those running requests for which `reason` has one. */
  cutOff(reason: CutOff): void;
  /** Stops accepting connections, gives running requests at most `drainMs`, then closes everything. */
  stop(drainMs: number): Promise<void>;
}

const defaultHeadersTimeoutMs = 30_000;
/** Long enough for the pause between a person's requests; a new connection costs more than an idle one. */
const keepAliveTimeoutMs = 75_000;
const maxHeaderBytes = 32 * 1024;
const cutOffMs = 1_000;

/** Rejects with the system's error, such as EADDRINUSE. */
export async function listen(listener: RequestListener, options: ListenOptions): Promise<ListeningServer> {
  const { host, port, headersTimeoutMs = defaultHeadersTimeoutMs, webSockets } = options;
  const running = new Slots<ServerResponse>();
  let isDraining = false;
  let onIdle: (() => void) | undefined;
  const server = http.createServer({
    headersTimeout: headersTimeoutMs,
    // An upload may take any time while it makes progress (`watchUpload`).
    requestTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    // Node would send an empty 400; the guards send a proper error.
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs),
    shouldUpgradeCallback: (request) => webSockets?.wants(request) ?? false,
  });
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const slot = running.add(response);
    // Otherwise a busy kept-alive connection would never become idle, and would be cut off at the end.
    if (isDraining) response.shouldKeepAlive = false;
    response.on('close', () => {
      running.delete(slot);
      if (running.size === 0) onIdle?.();
    });
    watchUpload(request);
    listener(request, response);
  };
  server.on('connection', (socket) => void batchWrites(socket));
  server.on('request', serve);
  // `100 Continue` is sent only when a body is read (`sendContinue`), so that clients do not send refused bodies.
  server.on('checkContinue', serve);
  server.on('checkExpectation', serve);
  const idleWithin = async (limitMs: number) => {
    if (running.size === 0) return;
    await idleOrLate((resolve) => {
      onIdle = resolve;
    }, limitMs);
  };
  if (webSockets && 'shouldUpgradeCallback' in server) server.on('upgrade', webSockets.open);
  limitConnections(server, descriptorLimit());
  answerInvalid(server, running);
  await bind(server, host, port);
  const address = server.address();
  const drain = () => {
    isDraining = true;
  };
  return {
    host,
    port: typeof address === 'object' && address ? address.port : port,
    get isDraining() {
      return isDraining;
    },
    drain,
    cutOff: (reason) => cutOffAll(running, reason),
    async stop(drainMs) {
      drain();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const sessionsEnded = webSockets?.close();
      await idleWithin(drainMs);
      cutOffAll(running, shuttingDown);
      await idleWithin(cutOffMs);
      server.closeAllConnections();
      await Promise.all([sessionsEnded, closed]);
      // Aborted requests are notified asynchronously and must still be recorded.
      await idleWithin(cutOffMs);
      await endedAreRecorded();
    },
  };
}

function cutOffAll(running: Slots<ServerResponse>, reason: CutOff): void {
  running.forEach((response) => {
    cutOff(response, reason);
  });
}

/** Answers what does not become a request. */
function answerInvalid(server: Server, running: Slots<ServerResponse>): void {
  server.on('clientError', (error, socket) => {
    let isAnswered = false;
    running.forEach(({ req, headersSent, writableEnded }) => {
      if (req.socket === socket && headersSent && !writableEnded) isAnswered = true;
    });
    answerClientError(error, socket, isAnswered);
  });
  server.on('connect', (_request, socket) => {
    // Node has removed its error listener, and an error without a listener would end the process.
    socket.on('error', () => {});
    answerRaw(socket, noProxy());
  });
}

/** An aborted request ends in this turn of the event loop or the next, and is recorded in the turn after that. */
async function endedAreRecorded(): Promise<void> {
  await yieldToEventLoop();
  await yieldToEventLoop();
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
    const timer = after(resolve, limitMs);
    whenIdle(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Invalid HTTP does not reach the application, but gets an error in the same format, unless it would come amidst another
 * response (`isAnswered`).
 */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, isAnswered: boolean): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) {
    socket.destroy();
    return;
  }
  answerRaw(socket, describeClientError(error.code));
}

function answerRaw(socket: Duplex, answer: GatewayError): void {
  // The client's API is unknown.
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
  return new GatewayError('method_not_allowed', 'Sluice is not an HTTP proxy: use its own address as base URL.');
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

/** For everything else: files, databases, the listener, and connections that are being refused. */
const reservedDescriptors = 64;
/** A connection to the client and one to the provider. */
const descriptorsPerRequest = 2;
/** Also for idle connections, which make room for others. */
const shareForClients = 0.75;
const makeRoomEveryMs = 1_000;

/** The requests and realtime sessions that may run at the same time. @param descriptors null: any number */
export function runningWithin(descriptors: number | null): number {
  if (descriptors === null) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor((descriptors - reservedDescriptors) / descriptorsPerRequest));
}

/**
 * Limits client connections, so that enough file descriptors are left. Beyond the limit, a new connection is closed at once,
 * and idle connections are closed to make room.
 */
function limitConnections(server: Server, descriptors: number | null): void {
  if (descriptors === null) return;
  server.maxConnections = connectionsWithin(descriptors);
  let lastMs = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() - lastMs < makeRoomEveryMs) return;
    lastMs = performance.now();
    server.closeIdleConnections();
  });
}

export function connectionsWithin(descriptors: number): number {
  return Math.max(1, Math.floor(descriptors * shareForClients));
}

const cutOffEvent = 'sluice-cut-off';

/** Why a request is over; null for requests that it does not concern. `keyId`: null without a valid key. */
type CutOff = (keyId: string | null) => GatewayError | null;

/**
 * How the server tells a running request that the time for it is over: Sluice is shutting down, or its key was revoked.
 */
export function onCutOff(response: ServerResponse, listener: (cutOff: CutOff) => void): void {
  response.on(cutOffEvent, listener);
}

function cutOff(response: ServerResponse, reason: CutOff): void {
  response.emit(cutOffEvent, reason);
}

export function shuttingDown(): GatewayError {
  return new GatewayError('shutting_down', 'Sluice is shutting down. Try again after it has restarted.');
}

export function keyRevoked(keyId: string): GatewayError {
  return new GatewayError('invalid_key', `Key "${keyId}" was revoked or disabled while this request ran.`);
}

// Disconnects clients that send a body at less than 1 kB/s for half a minute. One timer checks all running uploads.

interface Upload {
  request: IncomingMessage;
  bytes: number;
  /** Number of consecutive checks that found it slow. */
  slowChecks: number;
  /** Index in `uploads`; null once it is no longer watched. */
  slot: number | null;
}

const checkEveryMs = 10_000;
const minBytes = 10 * 1024;
const slowChecksAllowed = 3;

const uploads = new Slots<Upload>();
let timer: NodeJS.Timeout | undefined;

/**
 * Fails a request with `request_timeout` if its body arrives too slowly, and disconnects a client that goes on so. Must be
 * called before the body is read.
 */
function watchUpload(request: IncomingMessage): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  if (length === '0' && coding === undefined) return;
  const upload: Upload = { request, bytes: request.socket.bytesRead, slowChecks: 0, slot: null };
  upload.slot = uploads.add(upload);
  timer ??= every(checkAll, checkEveryMs).unref();
  request.on('close', () => forget(upload));
}

function forget(upload: Upload): void {
  if (upload.slot !== null) uploads.delete(upload.slot);
  upload.slot = null;
}

function checkAll(): void {
  uploads.forEach(check);
  if (uploads.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function check(upload: Upload): void {
  const { request, bytes } = upload;
  upload.bytes = request.socket.bytesRead;
  // Not counted while Sluice itself does not read, for example while it waits for memory or the disk.
  const isSlow = upload.bytes - bytes < minBytes && request.readableFlowing === true;
  upload.slowChecks = isSlow ? upload.slowChecks + 1 : 0;
  if (upload.slowChecks > slowChecksAllowed) request.destroy();
  // Nobody listens if the body is only discarded.
  else if (upload.slowChecks === slowChecksAllowed && request.listenerCount('error') > 0)
    request.emit('error', tooSlow());
}

function tooSlow(): GatewayError {
  return new GatewayError(
    'request_timeout',
    `The request's body came at less than ${minBytes / 10} bytes a second for ${(slowChecksAllowed * checkEveryMs) / 1_000} seconds.`,
  );
}
