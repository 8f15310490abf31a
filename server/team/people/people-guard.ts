/** Access to the control plane where people sign in: by a session, an API token, or on the machine itself by the admin token. */
import type { IncomingMessage } from 'node:http';
import { bearerSecret } from '../../apis/core/requests/client-credentials.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { AdminToken } from '../../control/admin-token.ts';
import type { Caller } from '../../control/people/caller.ts';
import { checkOwnPage, foreignPage } from '../../http/control-routes.ts';
import { checkHost } from '../../http/guards.ts';
import { loopbackOnly } from '../../routing/snapshot.ts';
import { cookieOf, type PeopleAccess, sessionCookie } from './people-access.ts';
import { notSignedIn } from './people-service.ts';

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
