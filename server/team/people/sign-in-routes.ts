/** Signing in and out, under `/control`. Imported only where people sign in. */
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { z } from 'zod';
import { bearerSecret } from '../../apis/core/requests/client-credentials.ts';
import { GatewayError } from '../../contract/errors.ts';
import { minuteMs } from '../../contract/units.ts';
import { parseInput } from '../../control/entries/parse-input.ts';
import { checkOwnPage, foreignPage } from '../../http/control-routes.ts';
import type { PendingSignIn } from './identity-provider.ts';
import { cookieOf, dropCookie, type PeopleAccess, pendingCookie, sessionCookie, setCookie } from './people-guard.ts';

const pendingMs = 10 * 60_000;
const maxBodyBytes = 8 * 1024;
const maxPendingLength = 2_000;
const logoutsPerMinute = 1_000;

const pendingSchema = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() });
const deviceSchema = z.strictObject({
  deviceCode: z.string().min(1).max(4_000),
  /** The name under which the person will find the token: the machine's. */
  name: z.string().trim().min(1).max(200),
});

export function createSignInRoutes(access: PeopleAccess): Router {
  const { service, publicOrigin, proxies } = access;
  const limit = new SignInLimit(Date.now);
  const limitAttempts: RequestHandler = (request, _response, next) => {
    const { origin } = request.headers;
    if (origin !== undefined && origin !== publicOrigin) throw foreignPage();
    limit.count(proxies.clientOf(request));
    next();
  };
  const router = express.Router({ caseSensitive: true });
  const json = express.json({ limit: maxBodyBytes, type: 'application/json' });

  router.get('/sign-in', limitAttempts, async (request, response) => {
    await orToWindow(request, response, async () => {
      const { url, pending } = await service.begin(`${publicOrigin}/control/signed-in`);
      const value = Buffer.from(JSON.stringify(pending)).toString('base64url');
      setCookie(response, access, { name: pendingCookie(access), value, maxAgeMs: pendingMs, sameSite: 'lax' });
      response.redirect(303, url);
    });
  });
  router.get('/signed-in', limitAttempts, async (request, response) => {
    await orToWindow(request, response, async () => {
      const pending = readPending(cookieOf(request, pendingCookie(access)));
      dropCookie(response, access, pendingCookie(access));
      const answer = new URL(request.originalUrl, publicOrigin);
      const { secret, expiresAt } = await service.finish(answer, pending, proxies.clientOf(request));
      const maxAgeMs = expiresAt - Date.now();
      setCookie(response, access, { name: sessionCookie(access), value: secret, maxAgeMs, sameSite: 'strict' });
      response.redirect(303, '/');
    });
  });
  router.post('/sign-out', limitAttempts, async (request, response) => {
    const bearer = bearerSecret(request.headers.authorization);
    if (bearer === null) checkOwnPage(request);
    const secret = bearer ?? cookieOf(request, sessionCookie(access));
    const caller = secret === undefined ? null : await service.recognize(secret, null);
    if (caller) await service.end({ id: caller.accessId });
    dropCookie(response, access, sessionCookie(access));
    response.json({ result: {} });
  });
  // Of the identity provider, which has no page and ends the sessions of many at once.
  const logouts = new SignInLimit(Date.now, logoutsPerMinute);
  const form = express.urlencoded({ limit: maxBodyBytes, extended: false });
  const limitLogouts: RequestHandler = (request, _response, next) => {
    logouts.count(proxies.clientOf(request));
    next();
  };
  router.post('/backchannel-logout', limitLogouts, form, async (request, response) => {
    response.set('cache-control', 'no-store');
    const { logout_token: token } = request.body ?? {};
    try {
      await service.endBySignOut(String(token));
      response.status(200).end();
    } catch (error) {
      // In the words of the specification, 2.8; nothing of the token.
      if (error instanceof GatewayError && error.code === 'storage_unavailable') throw error;
      response.status(400).json({ error: 'invalid_request' });
    }
  });
  router.post('/device', limitAttempts, async (_request, response) => {
    response.json({ result: await service.requestDeviceCode() });
  });
  router.post('/device/token', limitAttempts, json, async (request, response) => {
    const { deviceCode, name } = parseInput(deviceSchema, request.body, 'request');
    const opened = await service.finishDevice(deviceCode, { name, address: proxies.clientOf(request) });
    response.json({ result: opened && { token: opened.secret, expiresAt: opened.expiresAt, person: opened.person } });
  });
  return router;
}

/** On failure, redirects a browser to the window, which explains the error in the person's language. */
async function orToWindow(request: Request, response: Response, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof GatewayError) || request.accepts(['json', 'html']) !== 'html') throw error;
    response.redirect(303, `/?sign-in=${error.problem?.code ?? error.code}`);
  }
}

/** Fails if the cookie is missing: in another browser, or after a sign-in that took too long. */
function readPending(cookie: string | undefined): PendingSignIn {
  const again = new GatewayError(
    'sign_in_failed',
    'This sign-in has expired or was begun in another browser. Try again.',
  );
  if (cookie === undefined || cookie.length > maxPendingLength) throw again;
  try {
    return pendingSchema.parse(JSON.parse(Buffer.from(cookie, 'base64url').toString()));
  } catch {
    throw again;
  }
}

// Limits how often an address can begin or finish a sign-in, since each calls the identity provider.

/** Enough for an office behind one address, and for a command line that polls every five seconds. */
const attemptsPerMinute = 60;
/** Beyond this, all further addresses count as one. */
const maxAddresses = 10_000;

export class SignInLimit {
  readonly #nowMs: () => number;
  readonly #most: number;
  readonly #refusal: string;
  #minute = -1;
  #attempts = new Map<string, number>();

  constructor(
    nowMs: () => number,
    most = attemptsPerMinute,
    refusal = 'Too many attempts to sign in. Wait a minute and try again.',
  ) {
    this.#refusal = refusal;
    this.#most = most;
    this.#nowMs = nowMs;
  }

  /** Throws GatewayError `sign_in_limit`. */
  count(address: string | null): void {
    const now = this.#nowMs();
    const minute = Math.floor(now / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#attempts = new Map();
    }
    const isCounted = this.#attempts.has(address ?? '') || this.#attempts.size < maxAddresses;
    const name = isCounted ? (address ?? '') : '';
    const attempts = (this.#attempts.get(name) ?? 0) + 1;
    this.#attempts.set(name, attempts);
    if (attempts <= this.#most) return;
    throw new GatewayError('sign_in_limit', this.#refusal, {
      retryAfterSeconds: Math.ceil(((minute + 1) * minuteMs - now) / 1_000),
    });
  }
}
