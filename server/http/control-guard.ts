/** Who may use the control plane: who has the admin token, or the window that was opened with it. */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { AdminToken } from '../control/admin-token.ts';
import { bearerSecret } from './request/client-credentials.ts';

/**
 * Throws GatewayError `control_refused` or `origin_refused`. A cookie comes along with whatever page sends the request,
 * even one of another program on this machine (browsers keep cookies by host, not by port), so with a cookie the page
 * must be our own.
 */
export function checkControlAccess(request: IncomingMessage, admin: AdminToken): void {
  const { authorization, origin, host } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`) throw foreignPage();
  if (authorization !== undefined) {
    if (admin.matches(bearerSecret(authorization) ?? '')) return;
    throw new GatewayError(
      'control_refused',
      'This is not the admin token of this Sluice: see admin.token in its data folder.',
    );
  }
  if (!hasSession(request, admin)) {
    throw new GatewayError(
      'control_refused',
      'The control plane needs the admin token. Open the window by the address that Sluice prints at its start, or send the token as a bearer.',
    );
  }
  checkOwnPage(request);
}

/** Whether the request bears the window's cookie. */
export function hasSession({ headers }: IncomingMessage, admin: AdminToken): boolean {
  const prefix = `${admin.cookieName}=`;
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.some((cookie) => cookie.startsWith(prefix) && admin.sessionMatches(cookie.slice(prefix.length)));
}

function checkOwnPage({ headers, method }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  // `none`: the person typed the address or clicked a bookmark, which only ever fetches.
  const isOwn = site === undefined || site === 'same-origin' || (site === 'none' && method === 'GET');
  if (!isOwn || (method !== 'GET' && headers.origin === undefined)) throw foreignPage();
}

function foreignPage(): GatewayError {
  return new GatewayError('origin_refused', 'Web pages other than Sluice’s own window may not use the control plane.');
}
