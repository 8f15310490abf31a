/**
 * The built-in demo provider: a loopback server with one small answer for each of the thirteen usual routes of OpenAI's
 * API, so that they can be tried without an account. The rest of the program treats it like any other upstream, with a
 * base URL and a secret. It has chat alone: Responses are translated to it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  type Call,
  completeChat,
  DemoError,
  editImage,
  embed,
  generateImage,
  listen as hear,
  json,
  newId,
  type Reply,
  readFields,
  refusal,
  sendReply,
  speak,
} from './answers.ts';
import { Videos } from './videos.ts';

export const demoModelIds: readonly string[] = [
  'demo-chat',
  'demo-embedding',
  'demo-image',
  'demo-speech',
  'demo-transcribe',
  'demo-video',
];

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
  /** From a video's order to its completion. */
  videoSeconds?: number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

type Routes = Readonly<Record<string, (call: Call) => Reply | Promise<Reply>>>;

export async function startDemoServer({ videoSeconds = 4, now = Date.now }: DemoOptions = {}): Promise<DemoServer> {
  const secret = `demo-${randomBytes(24).toString('base64url')}`;
  const routes = routesWith(new Videos(videoSeconds * 1000));
  const server = createServer(async (request, response) => {
    // Without this, a connection that becomes idle after `end()` would be kept alive.
    response.on('close', () => server.listening || server.closeIdleConnections());
    response.setHeader('x-request-id', newId('req_'));
    const reply = await answer(request, { secret, routes, now }).catch(refusal);
    await sendReply(response, reply);
  });
  // Long enough that the gateway's pooled connections survive the pauses between a person's requests.
  server.keepAliveTimeout = 120_000;
  const baseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}/v1`;
  return { baseUrl, secret, end: () => close(server), stop: () => stop(server) };
}

function routesWith(videos: Videos): Routes {
  const models = demoModelIds.map((id) => ({ id, object: 'model', created: 1_767_225_600, owned_by: 'sluice-demo' }));
  return {
    'GET /v1/models': () => json({ object: 'list', data: models }),
    'POST /v1/chat/completions': completeChat,
    'POST /v1/embeddings': embed,
    'POST /v1/images/generations': generateImage,
    'POST /v1/images/edits': editImage,
    'POST /v1/audio/speech': speak,
    'POST /v1/audio/transcriptions': hear,
    'POST /v1/audio/translations': hear,
    'POST /v1/videos': videos.create,
    'GET /v1/videos/:id': videos.retrieve,
    'GET /v1/videos/:id/content': videos.download,
    'POST /v1/videos/:id/remix': videos.remix,
  };
}

interface Demo {
  secret: string;
  routes: Routes;
  now(): number;
}

async function answer(request: IncomingMessage, { secret, routes, now }: Demo): Promise<Reply> {
  requireSecret(request, secret);
  const { pathname } = new URL(request.url ?? '/', 'http://demo');
  const [, id = ''] = /^\/v1\/videos\/([^/]+)/.exec(pathname) ?? [];
  const name = `${request.method} ${id === '' ? pathname : pathname.replace(id, ':id')}`;
  const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
  if (!route)
    throw new DemoError(404, `The demo provider does not serve ${request.method} ${pathname}.`, 'unknown_url');
  return route({ id, fields: await readFields(request), now });
}

function requireSecret({ headers }: IncomingMessage, secret: string): void {
  const [actual, expected] = [Buffer.from(headers.authorization ?? ''), Buffer.from(`Bearer ${secret}`)];
  if (actual.length === expected.length && timingSafeEqual(actual, expected)) return;
  const message = 'Incorrect API key provided: the demo provider is reached through Sluice, not by itself.';
  throw new DemoError(401, message, 'invalid_api_key');
}

function listenOnLoopback(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('the demo server has no port'));
      else resolve(address.port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function stop(server: Server): Promise<void> {
  const closed = close(server);
  server.closeAllConnections();
  return closed;
}
