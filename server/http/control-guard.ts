/** Access to the control plane: by the admin token, or by the session of a window opened with it. */
import type { IncomingMessage } from 'node:http';
import { bearerSecret } from '../apis/core/requests/client-credentials.ts';
import { GatewayError } from '../contract/errors.ts';
import type { WindowAccess } from '../control/window-access.ts';

/**
 * Returns the secret of the request's session, or null if it has the admin token. Throws GatewayError `control_refused` or
 * `origin_refused`. Browsers send cookies with requests of any page, also of other programs on this machine (cookies are not
 * separated by port), so a cookie counts only from Sluice's own page.
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
  // After the checks, so that a foreign page cannot prolong a session.
  if (access.sessions.use(secret)) return secret;
  throw new GatewayError(
    'control_refused',
    'This browser is not signed in any more: it was not used for 30 days, or was signed out. "sluice window" prints an address that signs it in.',
  );
}

/** Whether the request has the cookie of a valid session. */
export function hasSession(request: IncomingMessage, access: WindowAccess): boolean {
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
