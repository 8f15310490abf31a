/** Access to the control plane where people sign in: by a session, an API token, or on the machine itself by the admin token. */
import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { bearerSecret } from '../../apis/core/requests/client-credentials.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { AdminToken } from '../../control/admin-token.ts';
import type { Caller } from '../../control/people/people.ts';
import type { TrustedProxies } from '../../http/client-address.ts';
import { checkOwnPage, foreignPage } from '../../http/control-routes.ts';
import { checkHost } from '../../http/guards.ts';
import { loopbackOnly } from '../../routing/snapshot.ts';
import { notSignedIn, type PeopleService } from './people-service.ts';

/**
 * The caller; undefined for the administrator of the machine. Rejects with a GatewayError `not_signed_in` or
 * `origin_refused`. A cookie counts only from Sluice's own page, since browsers send it with requests of other pages of
 * the same site, too.
 */
export async function checkPerson(
  request: IncomingMessage,
  access: PeopleAccess,
  token: Pick<AdminToken, 'matches'>,
): Promise<Caller | undefined> {
  const { authorization, origin } = request.headers;
  if (origin !== undefined && origin !== access.publicOrigin) throw foreignPage();
  if (authorization !== undefined) return callerOfBearer(request, bearerSecret(authorization) ?? '', { access, token });
  const secret = cookieOf(request, sessionCookie(access));
  if (secret === undefined) throw notSignedIn();
  checkOwnPage(request);
  const caller = await access.service.recognize(secret, access.proxies.clientOf(request));
  // A stolen API token must not work as a session cookie.
  if (!caller || caller.scopes) throw notSignedIn();
  return caller;
}

async function callerOfBearer(
  request: IncomingMessage,
  secret: string,
  { access, token }: { access: PeopleAccess; token: Pick<AdminToken, 'matches'> },
): Promise<Caller | undefined> {
  if (token.matches(secret)) {
    // The admin token is for this machine's command line and is refused under the public host name.
    checkHost(request.headers.host, loopbackOnly);
    return undefined;
  }
  const caller = await access.service.recognize(secret, access.proxies.clientOf(request));
  if (!caller?.scopes)
    throw new GatewayError('not_signed_in', 'This API token is unknown, has expired or was revoked.');
  return caller;
}

// What the control routes need for people who sign in: the service that authenticates them, the public origin, and the
// cookies.

export interface PeopleAccess {
  service: PeopleService;
  /** As browsers see it: `https://gateway.example`. */
  publicOrigin: string;
  proxies: TrustedProxies;
}

/** Without TLS, they are sent to no other path. */
const path = '/control';

/** Browsers take the name with `__Host-` from this very host only, over TLS, for all of its paths: no sibling of its domain can set one. */
export function sessionCookie({ publicOrigin }: PeopleAccess): string {
  return isSecure(publicOrigin) ? '__Host-sluice' : 'sluice-session';
}

function isSecure(publicOrigin: string): boolean {
  return publicOrigin.startsWith('https:');
}

export function pendingCookie(access: PeopleAccess): string {
  return `${sessionCookie(access)}-sign-in`;
}

/** `lax`: also sent with the redirect back from the identity provider. */
export function setCookie(
  response: Response,
  { publicOrigin }: PeopleAccess,
  cookie: { name: string; value: string; maxAgeMs: number; sameSite: 'strict' | 'lax' },
): void {
  const { name, value, maxAgeMs, sameSite } = cookie;
  response.cookie(name, value, {
    ...{ httpOnly: true, secure: isSecure(publicOrigin), sameSite, path: isSecure(publicOrigin) ? '/' : path },
    maxAge: maxAgeMs,
  });
}

export function dropCookie(response: Response, access: PeopleAccess, name: string): void {
  setCookie(response, access, { name, value: '', maxAgeMs: 0, sameSite: 'strict' });
}

/** The last cookie of that name; undefined if there is none. */
export function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.findLast((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
}
