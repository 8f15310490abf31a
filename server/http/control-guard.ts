/** Who may use the control plane: who has the admin token, or the window that was opened with it. */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { WindowAccess } from '../control/window-access.ts';
import { bearerSecret } from '../wire/client-credentials.ts';

/**
 * The secret of the window's session that the request came with; null if it came with the admin token.
 * Throws GatewayError `control_refused` or `origin_refused`. A cookie comes along with whatever page sends the request,
 * even one of another program on this machine (browsers keep cookies by host, not by port), so with a cookie the page
 * must be our own.
 */
export function checkControlAccess(request: IncomingMessage, access: WindowAccess): string | null {
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
  // After the checks: a page of somebody else must not keep a session from ending.
  if (access.sessions.use(secret)) return secret;
  throw new GatewayError(
    'control_refused',
    'This browser is not signed in any more: it was not used for 30 days, or was signed out. "sluice window" prints an address that signs it in.',
  );
}

/** Whether the request bears the cookie of a session that goes on. */
export function hasSession(request: IncomingMessage, access: WindowAccess): boolean {
  const secret = presentedSession(request, access);
  return secret !== undefined && access.sessions.lasts(secret);
}

/** Of several cookies of that name the one of a session that goes on. */
function presentedSession({ headers }: IncomingMessage, { token, sessions }: WindowAccess): string | undefined {
  const prefix = `${token.cookieName}=`;
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  const secrets = cookies.filter((cookie) => cookie.startsWith(prefix)).map((cookie) => cookie.slice(prefix.length));
  return secrets.find((secret) => sessions.lasts(secret)) ?? secrets[0];
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
