/**
 * What the control routes need for people who sign in: the service that authenticates them, the public origin, and the
 * cookies.
 */
import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import type { TrustedProxies } from '../../http/client-address.ts';
import type { PeopleService } from './people-service.ts';

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
