/**
 * The built-in demo provider: a loopback server with one small answer for each of the thirteen usual routes of OpenAI's
 * API, so that they can be tried without an account. The rest of the program treats it like any other upstream, with a
 * base URL and a secret. It has chat alone: Responses are translated to it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import {
  binary,
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
import film from './film.json' with { type: 'json' };

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

interface Video {
  id: string;
  prompt: string;
  model: string;
  seconds: string;
  size: string;
  remixedFrom: string | null;
  createdAtMs: number;
}

/** The oldest are forgotten. */
const maxVideos = 100;
const queuedShare = 0.2;
const decompress = promisify(brotliDecompress);

/** The routes for videos. A video is ready a few seconds after it was asked for; all are the same small film. */
class Videos {
  readonly #videos = new Map<string, Video>();
  /** From a video's order to its completion. */
  readonly #durationMs: number;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  readonly create = (call: Call): Reply => {
    const { model, prompt, seconds, size } = call.fields;
    const order = {
      model: String(model ?? 'demo-video'),
      seconds: String(seconds ?? 4),
      size: String(size ?? '720x1280'),
    };
    return this.#make({ ...order, prompt: String(prompt), remixedFrom: null }, call);
  };

  readonly retrieve = (call: Call): Reply => this.#describe(this.#find(call), call);

  readonly remix = (call: Call): Reply => {
    const source = this.#findReady(call);
    return this.#make({ ...source, prompt: String(call.fields.prompt), remixedFrom: source.id }, call);
  };

  /** The film, a 4-second MP4 (H.264) of 320x180 pixels. */
  readonly download = async (call: Call): Promise<Reply> => {
    this.#findReady(call);
    return binary(await decompress(Buffer.from(film.mp4, 'base64')), 'video/mp4');
  };

  #make(order: Omit<Video, 'id' | 'createdAtMs'>, call: Call): Reply {
    const video = { ...order, id: newId('video_'), createdAtMs: call.now() };
    this.#videos.set(video.id, video);
    const [oldest] = this.#videos.keys();
    if (this.#videos.size > maxVideos && oldest !== undefined) this.#videos.delete(oldest);
    return this.#describe(video, call);
  }

  #find({ id }: Call): Video {
    const video = this.#videos.get(id);
    if (!video) throw new DemoError(404, `Video with id '${id}' not found.`);
    return video;
  }

  #findReady(call: Call): Video {
    const video = this.#find(call);
    if (this.#shareOf(video, call) === 1) return video;
    throw new DemoError(400, `Video '${video.id}' is not ready yet.`, 'video_not_ready');
  }

  #shareOf({ createdAtMs }: Video, { now }: Call): number {
    return Math.min((now() - createdAtMs) / this.#durationMs, 1);
  }

  #describe(video: Video, call: Call): Reply {
    const { createdAtMs, remixedFrom, ...order } = video;
    const share = this.#shareOf(video, call);
    const running = share < queuedShare ? 'queued' : 'in_progress';
    return json({
      ...order,
      object: 'video',
      status: share === 1 ? 'completed' : running,
      progress: Math.floor(100 * share),
      created_at: Math.floor(createdAtMs / 1000),
      completed_at: share === 1 ? Math.floor((createdAtMs + this.#durationMs) / 1000) : null,
      expires_at: null,
      remixed_from_video_id: remixedFrom,
      error: null,
    });
  }
}
