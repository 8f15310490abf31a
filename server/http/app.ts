/**
 * The HTTP application: routes and guards.
 *
 * Threat model in short (see `docs/security.md`): Sluice listens on loopback, which three kinds of callers can reach:
 * the user's programs, which have a key; web pages in the user's browser, which may send requests to loopback and try
 * DNS rebinding, and are stopped by the checks of Host and Origin; and other local users and programs, which are
 * stopped by keys and the admin token. Upstreams may be slow, broken or hostile; their responses are relayed, but not
 * trusted.
 *
 * API requests do not pass through Express but go to the registry directly, which saves a tenth of each request's cost.
 */

import { readdir } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { basename, dirname, extname } from 'node:path';
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import { pageHeaders } from '../contract/page-headers.ts';
import { toGatewayError } from '../exchange/answer/attempt-failures.ts';
import { createRequestId } from '../exchange/record/exchange-trace.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import { type ApiPorts, handleApiRequest, sendError } from './api-request.ts';
import type { ControlRoutes } from './control-routes.ts';
import { allowOrigin, answerPreflight, checkHost, checkOrigin, checkUrl, isPreflight } from './guards.ts';

interface AppPorts {
  api: ApiPorts;
  snapshot(): Snapshot;
  /** `/control`, `/metrics` and `/scim/v2`, with their own guards. */
  control: Pick<ControlRoutes, 'router' | 'metrics' | 'scim'> | null;
  /** The folder of the built window; null if there is none. */
  windowFolder: string | null;
  health(): Health;
}

/** Further fields of `/healthz`. */
interface Health {
  /** Random at each start. */
  instance: string;
  /** False once shutdown has begun, so that load balancers send no more requests. */
  ready: boolean;
}

/** The server's request listener. */
export function createListener(ports: AppPorts): RequestListener {
  const app = createApp(ports);
  return (request, response) => {
    if (!request.url?.startsWith('/')) takeAbsoluteUrl(request);
    const location = ports.api.registry.locate(request.url ?? '/', request.headers);
    if (location.isKnown && !isPreflight(request)) handleApiRequest(ports.api, request, response, location);
    else app(request, response);
  };
}

/** The absolute form, `GET http://127.0.0.1:4810/v1/models HTTP/1.1`. Its authority overrides the Host header (RFC 9112, 3.2.2). */
function takeAbsoluteUrl(request: IncomingMessage): void {
  const [origin, host] = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? '') ?? [];
  if (origin === undefined || host === undefined) return;
  const rest = request.url?.slice(origin.length) ?? '';
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = host;
}

function createApp(ports: AppPorts): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(giveRequestId);
  app.use((request, _response, next) => {
    checkUrl(request.url);
    next();
  });
  addProbes(app, ports.health);
  app.use(guardHost(ports.snapshot));
  const { registry } = ports.api;
  app.use((request, response, next) => {
    if (!isPreflight(request) || !registry.locate(request.url, request.headers).isKnown) return next();
    admitOrigin(ports.snapshot(), request, response);
    answerPreflight(request, response);
  });
  app.get('/healthz', (_request, response) => {
    response.set('cache-control', 'no-store').json({ status: 'ok', ...ports.health() });
  });
  for (const path of registry.helloPaths) {
    app.get(path, (_request, response) => {
      response.set('cache-control', 'no-store').json({ status: 'ok' });
    });
  }
  if (ports.control) {
    app.use('/control', ports.control.router);
    app.get('/metrics', ports.control.metrics);
    if (ports.control.scim) app.use('/scim/v2', ports.control.scim);
  }
  if (ports.windowFolder) app.use(windowHeaders, createPages(ports.windowFolder));
  app.use((request, response) => {
    const location = registry.locate(request.originalUrl, request.headers);
    const isOfClient = location.api.readKeys(request.headers, location.query).length > 0;
    // Recorded only with a valid key, so that a browser's request for an icon leaves no row.
    if (isOfClient) handleApiRequest(ports.api, request, response, location);
    else registry.find(request.method, location);
  });
  app.use(errorHandler(ports.api));
  return app;
}

/**
 * Registered before the check of Host, because Kubernetes and load balancers send a pod's address there. Probes
 * disclose nothing.
 */
function addProbes(app: express.Express, health: () => Health): void {
  app.get('/livez', (_request, response) => {
    response.set('cache-control', 'no-store').json({ status: 'ok' });
  });
  app.get('/readyz', (_request, response) => {
    const [status, word] = health().ready ? [200, 'ok'] : [503, 'draining'];
    response.status(status).set('cache-control', 'no-store').json({ status: word });
  });
}

const giveRequestId: RequestHandler = (_request, response, next) => {
  const id = createRequestId();
  response.set({ 'x-request-id': id, 'x-sluice-request-id': id });
  next();
};

function guardHost(snapshot: () => Snapshot): RequestHandler {
  return (request, _response, next) => {
    checkHost(request.headers.host, snapshot().source);
    next();
  };
}

/** Runs before preflights are answered, so that disallowed origins learn nothing. */
function admitOrigin({ source }: Snapshot, request: IncomingMessage, response: ServerResponse): void {
  const { origin, host } = request.headers;
  checkOrigin(origin, host, source);
  if (origin !== undefined) allowOrigin(response, origin);
}

const windowHeaders: RequestHandler = (_request, response, next) => {
  response.set(pageHeaders);
  next();
};

function errorHandler({ registry, reportError }: Pick<ApiPorts, 'registry' | 'reportError'>): ErrorRequestHandler {
  return (thrown, request, response, _next) => {
    const error = toGatewayError(thrown);
    if (error.code === 'internal') reportError(thrown);
    const { api } = registry.locate(request.originalUrl, request.headers);
    sendError(request, response, { error, api, requestId: String(response.get('x-request-id')), secrets: [] });
  };
}

/** By preference. Firefox accepts Brotli over HTTPS only. */
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

/** Of the files that `build/compressed-files.ts` compresses. */
const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The pages, by their paths. */
const pages = new Map([
  ['/', '/index.html'],
  ['/panel', '/panel.html'],
]);

/** The files of the built window. Those that the build has compressed are sent so to browsers that accept it. */
function createPages(folder: string): RequestHandler {
  const router = Router();
  // Read with the first page, so that it costs nothing where no window is opened.
  let compressed: ReadonlySet<string> | null = null;
  router.get('/{*path}', async (request, response, next) => {
    compressed ??= await compressedPaths(folder);
    const path = pages.get(request.path) ?? request.path;
    const encoding = bestEncoding(request, path, compressed);
    const type = contentTypes[extname(path)];
    request.url = path;
    if (encoding && type) {
      request.url += encoding.suffix;
      response.set({ 'content-encoding': encoding.name, 'content-type': type });
    }
    next();
  });
  router.use(express.static(folder, { index: 'index.html', cacheControl: false, setHeaders: setCacheHeaders }));
  router.use((_request, response, next) => {
    // The response that replaces the file is not compressed.
    response.removeHeader('content-encoding');
    response.removeHeader('content-type');
    next();
  });
  return router;
}

function setCacheHeaders(response: Response, file: string): void {
  response.vary('accept-encoding');
  // A file in `assets` has a hash of its content in its name.
  const isHashed = basename(dirname(file)) === 'assets';
  response.set('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
}

function bestEncoding(request: Request, path: string, compressed: ReadonlySet<string>) {
  return encodings.find(({ name, suffix }) => compressed.has(path + suffix) && request.acceptsEncodings(name) === name);
}

/** As URL paths: `/assets/Keys-BIhWZ9sp.js.br`. */
async function compressedPaths(folder: string): Promise<ReadonlySet<string>> {
  const files = await readdir(folder, { recursive: true });
  const paths = files.map((file) => `/${file.replaceAll('\\', '/')}`);
  return new Set(paths.filter((path) => encodings.some(({ suffix }) => path.endsWith(suffix))));
}
