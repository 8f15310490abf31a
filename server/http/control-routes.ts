/**
 * The control plane over HTTP, for the window in a browser and for the command line. Without CORS: only Sluice's own
 * page has access.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import { bearerSecret } from '../apis/core/requests/client-credentials.ts';
import { GatewayError } from '../contract/errors.ts';
import type { EventMessage } from '../contract/events.ts';
import { goneCall, goneRoutes } from '../contract/removed-features.ts';
import { isSameSecret } from '../control/admin-token.ts';
import type { ControlPlane } from '../control/control-plane.ts';
import { type Caller, checkScope } from '../control/people/people.ts';
import { sessionIdleMs, type WindowAccess } from '../control/window-access.ts';
import { systemErrorCode } from '../ground/files/regular-file.ts';
import { every } from '../ground/timers.ts';
import type { Observability } from '../observability/observability.ts';
import type { ExportFormat } from '../store/sqlite/export.ts';
import { sendContinue } from './body/read-body.ts';

interface ControlRoutePorts {
  access: WindowAccess;
  control: Pick<ControlPlane, 'execute' | 'query' | 'onEvent'>;
  /** The ledger as text, in chunks. Throws a GatewayError for parameters that are not a valid filter. */
  exportRequests(
    format: ExportFormat,
    parameters: Readonly<Record<string, unknown>>,
    by?: Caller,
  ): AsyncIterable<string>;
  observability: Pick<Observability, 'metrics' | 'metricsToken'>;
  /** Sign-in of people; null without it: then the machine's administrator opens the window by a printed address. */
  people: PeopleDoor | null;
}

export interface ControlRoutes {
  router: Router;
  /** For `GET /metrics`, with its own guard. */
  metrics: RequestHandler;
  /** For `/scim/v2`, with its own guard; null where nobody signs in. */
  scim: Router | null;
  /** Ends the event streams. */
  close(): void;
}

const maxBodyBytes = 1024 * 1024;

export function createControlRoutes(ports: ControlRoutePorts): ControlRoutes {
  const { access, control, people } = ports;
  const streams = createEventStreams(control.onEvent);
  const router = express.Router({ caseSensitive: true });
  router.use(neverStored);
  access.onSignOut(streams.endRefused);
  if (people) router.use(people.signIn, admitPerson(people));
  else router.use(express.Router().get('/session', openSession(access)), admitWindow(access));
  router.post('/{*path}', continueBody);
  const json = express.json({ limit: maxBodyBytes, type: 'application/json' });
  router.post('/execute', json, async (request, response) => {
    response.json({ result: await control.execute(jsonBody(request), callerOf(response)) });
  });
  router.post('/query', json, async (request, response) => {
    response.json({ result: await control.query(jsonBody(request), callerOf(response)) });
  });
  router.get('/events', (_request, response) => {
    const { session } = response.locals;
    const by = callerOf(response);
    if (by) checkScope(by, 'read');
    streams.open(response, () => typeof session !== 'string' || access.sessions.lasts(session), by);
    // The browser reconnects, and its next stream shows what the person may see now.
    if (people && by && !response.destroyed)
      response.once(
        'close',
        people.watch(by, () => response.end()),
      );
  });
  router.get('/requests.csv', sendExport(ports, 'csv', 'text/csv; charset=utf-8'));
  router.get('/requests.jsonl', sendExport(ports, 'jsonl', 'application/jsonl; charset=utf-8'));
  for (const path of goneRoutes) router.all(path.slice('/control'.length), refuseGone(path));
  router.use(explainBodyError);
  return { router, metrics: sendMetrics(ports), scim: people?.scim ?? null, close: streams.close };
}

const continueBody: RequestHandler = (request, response, next) => {
  sendContinue(request, response);
  next();
};

function admitWindow(access: WindowAccess): RequestHandler {
  return (request, response, next) => {
    const session = checkControlAccess(request, access);
    // Renewed with each response, since the browser expires it.
    if (session !== null) giveCookie(response, access, session);
    response.locals.session = session;
    next();
  };
}

function admitPerson(people: PeopleDoor): RequestHandler {
  return async (request, response, next) => {
    response.locals.by = await people.admit(request);
    next();
  };
}

/** The caller; undefined for the administrator of the machine. */
function callerOf({ locals }: Response): Caller | undefined {
  return locals.by as Caller | undefined;
}

const neverStored: RequestHandler = (_request, response, next) => {
  response.set({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });
  next();
};

/** Exchanges the ticket of a printed address for a session cookie. A browser with a session needs no ticket. */
function openSession(access: WindowAccess): RequestHandler {
  return async (request, response) => {
    const { token } = request.query;
    if (!hasSession(request, access)) {
      if (typeof token !== 'string' || !access.token.redeemTicket(token)) {
        // The window explains what to do; other clients get a JSON error.
        if (request.accepts(['json', 'html']) === 'html')
          return response.redirect(303, typeof token === 'string' ? '/?link=used' : '/');
        throw new GatewayError(
          'control_refused',
          'This address of the window was used before, is older than ten minutes, or is of an earlier start. "sluice window" prints a new one.',
        );
      }
      giveCookie(response, access, await access.sessions.open());
    }
    response.redirect(303, '/');
  };
}

function giveCookie(response: Response, access: WindowAccess, session: string): void {
  response.cookie(access.token.cookieName, session, {
    httpOnly: true,
    sameSite: 'strict',
    path: '/control',
    maxAge: sessionIdleMs,
  });
}

function refuseGone(path: string): RequestHandler {
  return () => {
    throw new GatewayError('not_found', goneCall(path) ?? path);
  };
}

function jsonBody(request: Request): unknown {
  if (request.body === undefined) {
    throw new GatewayError('unsupported_media_type', 'Send JSON, with content-type: application/json.');
  }
  return request.body;
}

function sendExport(ports: ControlRoutePorts, format: ExportFormat, contentType: string): RequestHandler {
  return async (request: Request, response: Response) => {
    const pieces = ports.exportRequests(format, request.query, callerOf(response));
    response.set({ 'content-type': contentType, 'content-disposition': `attachment; filename="requests.${format}"` });
    await sendPieces(pieces, response);
  };
}

/** Converts errors of Express's body parser. */
const explainBodyError: ErrorRequestHandler = (error, _request, _response, next) => {
  next(error instanceof GatewayError ? error : (toBodyError(error) ?? error));
};

function toBodyError(error: unknown): GatewayError | undefined {
  if (typeof error !== 'object' || error === null || !('type' in error)) return undefined;
  switch (error.type) {
    case 'entity.too.large':
      return new GatewayError('too_large', `The command is longer than ${maxBodyBytes} bytes.`);
    case 'entity.parse.failed':
      return new GatewayError('malformed_json', 'The command is not valid JSON.');
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new GatewayError('unsupported_media_type', 'Send JSON in UTF-8.');
    default:
      return undefined;
  }
}

interface EventStreams {
  /** Sends events until the client disconnects or loses access; with `by`, only those that this person may see. */
  open(response: ServerResponse, mayRead: () => boolean, by?: Caller): void;
  /** Ends the streams of clients that have lost access. */
  endRefused(): void;
  /** Ends all streams and refuses new ones. */
  close(): void;
}

const heartbeatMs = 15_000;
/** A client with more unread bytes is disconnected; it reconnects and gets a snapshot. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** Server-sent events: `id` is the revision, `data` the message as JSON. */
export function createEventStreams(
  onEvent: (listener: (message: EventMessage) => void, by?: Caller) => () => void,
): EventStreams {
  const streams = new Map<ServerResponse, () => boolean>();
  let isClosed = false;
  return {
    open(response, mayReceive, by) {
      if (isClosed) throw new GatewayError('shutting_down', 'Sluice is being stopped.');
      // The client disconnected while its sign-in was being checked, so `close` was emitted before.
      if (response.destroyed) return;
      streams.set(response, mayReceive);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
      response.flushHeaders();
      const send = (text: string) => {
        if (response.writableEnded) return;
        // Checked before writing, because a single message, such as the snapshot of many groups, may be larger.
        if (response.writableLength > maxUnreadBytes) response.destroy();
        else response.write(text);
      };
      const unsubscribe = onEvent(
        (message) => send(`id: ${message.revision}\ndata: ${JSON.stringify(message)}\n\n`),
        by,
      );
      const heartbeat = every(() => {
        if (mayReceive()) send(':\n\n');
        else response.end();
      }, heartbeatMs);
      response.once('close', () => {
        unsubscribe();
        clearInterval(heartbeat);
        streams.delete(response);
      });
    },
    endRefused() {
      for (const [response, mayReceive] of streams) if (!mayReceive()) response.end();
    },
    close() {
      isClosed = true;
      for (const response of streams.keys()) response.end();
    },
  };
}

interface MetricsRoutePorts {
  access: WindowAccess;
  observability: Pick<Observability, 'metrics' | 'metricsToken'>;
}

/** Requires access to the control plane, or the token that only reads metrics. */
function sendMetrics({ access, observability }: MetricsRoutePorts): RequestHandler {
  return async (request, response, next) => {
    const { metrics, metricsToken } = observability;
    if (metrics === null) return next();
    const token = bearerSecret(request.headers.authorization ?? '');
    const mayRead = metricsToken !== null && token !== null && isSameSecret(token, metricsToken);
    if (!mayRead) checkControlAccess(request, access);
    const text = await metrics.text();
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    response.type(metrics.contentType).send(text);
  };
}

/**
 * Sends text as it is made. Rejects if a piece cannot be made, and breaks the response off; resolves if the client
 * disconnects.
 */
export async function sendPieces(pieces: AsyncIterable<string>, response: ServerResponse): Promise<void> {
  await pipeline(Readable.from(pieces), response).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
}

/** How people get to the control plane where they sign in (`server/team/people`). */
export interface PeopleDoor {
  /** The routes of signing in and out, which need no access. */
  signIn: Router;
  /** By which the identity provider pushes people and groups, with a guard of its own. */
  scim: Router;
  /** The caller; undefined for the administrator of the machine. Rejects with a GatewayError. */
  admit(request: IncomingMessage): Promise<Caller | undefined>;
  /**
   * Calls `refused` soon after the caller's access has ended, or what the caller may see has changed. Returns a
   * function that stops watching.
   */
  watch(by: Caller, refused: () => void): () => void;
}

// Access to the control plane: by the admin token, or by the session of a window opened with it.

/**
 * Returns the secret of the request's session, or null if it has the admin token. Throws GatewayError `control_refused` or
 * `origin_refused`. Browsers send cookies with requests of any page, also of other programs on this machine (cookies are not
 * separated by port), so a cookie counts only from Sluice's own page.
 */
function checkControlAccess(request: IncomingMessage, access: WindowAccess): string | null {
  const { authorization, origin, host } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`) throw foreignPage();
  if (authorization !== undefined) {
    if (access.token.matches(bearerSecret(authorization) ?? '')) return null;
    throw new GatewayError(
      'control_refused',
      'This is not the admin token of this Sluice: see admin.token in its data folder.',
    );
  }
  const secret = presentedSession(request, access);
  if (secret === undefined) {
    throw new GatewayError(
      'control_refused',
      'The control plane needs the admin token. Open the window by the address that "sluice window" prints, or send the token as a bearer.',
    );
  }
  checkOwnPage(request);
  // After the checks, so that a foreign page cannot prolong a session.
  if (access.sessions.use(secret)) return secret;
  throw new GatewayError(
    'control_refused',
    'This browser is not signed in any more: it was not used for 30 days, or was signed out. "sluice window" prints an address that signs it in.',
  );
}

/** Whether the request has the cookie of a valid session. */
function hasSession(request: IncomingMessage, access: WindowAccess): boolean {
  const secret = presentedSession(request, access);
  return secret !== undefined && access.sessions.lasts(secret);
}

/** The first cookie of that name with a valid session. */
function presentedSession({ headers }: IncomingMessage, { token, sessions }: WindowAccess): string | undefined {
  const prefix = `${token.cookieName}=`;
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  const secrets = cookies.filter((cookie) => cookie.startsWith(prefix)).map((cookie) => cookie.slice(prefix.length));
  return secrets.find((secret) => sessions.lasts(secret)) ?? secrets[0];
}

export function checkOwnPage({ headers, method }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  // `none`: a typed address or a bookmark, which only sends GET.
  const isOwn = site === undefined || site === 'same-origin' || (site === 'none' && method === 'GET');
  if (!isOwn || (method !== 'GET' && headers.origin === undefined)) throw foreignPage();
}

export function foreignPage(): GatewayError {
  return new GatewayError('origin_refused', 'Web pages other than Sluice’s own window may not use the control plane.');
}
