/**
 * The built-in demo provider: a loopback server that implements the OpenAI API, so that every route of the gateway can
 * be tried without an account. Its answers are computed from the request alone. The rest of the program treats it like
 * any other upstream, with a base URL and a secret.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readParameters } from './call.ts';
import { DemoError } from './demo-error.ts';
import { newId } from './ids.ts';
import { json, sendReply } from './reply.ts';
import type { Route } from './route.ts';
import { createRoutes, findRoute } from './routes.ts';

export { demoModelFor, demoModels } from './models.ts';

export interface DemoServer {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  /** The bearer token it requires; random at every start. */
  secret: string;
  /** Stops accepting requests; resolves once the running ones have ended. */
  end(): Promise<void>;
  /** Closes the socket and all connections immediately. */
  stop(): Promise<void>;
}

interface DemoOptions {
  /** Seconds from a video job's creation to its completion. */
  videoSeconds?: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export async function startDemoServer(options: DemoOptions = {}): Promise<DemoServer> {
  const secret = `demo-${randomBytes(24).toString('base64url')}`;
  const routes = createRoutes({ videoSeconds: options.videoSeconds ?? 4, now: options.now ?? Date.now });
  const server = createServer((request, response) => {
    // Without this, a connection that becomes idle after `end()` would be kept alive.
    response.on('close', () => server.listening || server.closeIdleConnections());
    void answer({ request, response, routes, secret });
  });
  // Long enough that the gateway's pooled connections survive the pauses between a person's requests.
  server.keepAliveTimeout = 120_000;
  const port = await listen(server);
  return { baseUrl: `http://127.0.0.1:${port}/v1`, secret, end: () => end(server), stop: () => stop(server) };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  routes: readonly Route[];
  secret: string;
}

async function answer({ request, response, routes, secret }: Exchange): Promise<void> {
  response.setHeader('x-request-id', newId('req_'));
  try {
    requireSecret(request, secret);
    const url = new URL(request.url ?? '/', 'http://demo');
    const { route, path } = findRoute(routes, request.method ?? 'GET', url.pathname);
    const reply = await route.handle({
      path,
      query: url.searchParams,
      header: (name) => request.headers[name]?.toString(),
      parameters: () => readParameters(request),
    });
    await sendReply(response, reply);
  } catch (error) {
    await refuse(response, error);
  }
}

async function refuse(response: ServerResponse, error: unknown): Promise<void> {
  const message = `The demo provider failed: ${error instanceof Error ? error.message : String(error)}`;
  const refusal = error instanceof DemoError ? error : new DemoError({ status: 500, type: 'server_error', message });
  await sendReply(response, json(refusal.body, refusal.headers, refusal.status));
}

function requireSecret(request: IncomingMessage, secret: string): void {
  const [, token = ''] = /^Bearer (.*)$/i.exec(request.headers.authorization ?? '') ?? [];
  const [actual, expected] = [Buffer.from(token), Buffer.from(secret)];
  if (actual.length === expected.length && timingSafeEqual(actual, expected)) return;
  const message = 'Incorrect API key provided: the demo provider is reached through Sluice, not by itself.';
  throw new DemoError({ status: 401, code: 'invalid_api_key', message });
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('the demo server has no port'));
      else resolve(address.port);
    });
  });
}

function end(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
