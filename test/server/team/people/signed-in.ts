/** A gateway at which people sign in through an identity provider on loopback. */
import type { ConfigInput } from '../../../../server/contract/config.ts';
import type { RoleMapping } from '../../../../server/contract/people.ts';
import type { TestPorts } from '../../../support/gateway.ts';
import {
  clientId,
  clientSecret,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../../support/identity-provider.ts';
import { freePort } from '../../../support/ports.ts';
import { type ControlGateway, startControlGateway } from '../../control/control-gateway.ts';

export interface SignInGateway {
  sluice: ControlGateway;
  identity: TestIdentityProvider;
  /** Signs in; resolves with the session cookie. */
  signIn(person: string): Promise<string>;
  /** Calls the gateway as the window with a cookie, or as a program with a token. */
  call(path: string, who: { cookie?: string; token?: string }, body?: object): Promise<Response>;
  stop(): Promise<void>;
}

export const roles: RoleMapping[] = [
  { claim: 'admins', role: 'admin' },
  { claim: 'leads', role: 'manager', groups: ['ours'] },
  { claim: 'devs', role: 'member', groups: ['ours'] },
];

/** Ada is an administrator, Mo a manager and Mia a member of `ours`; Nobody has no role. */
export async function startSignInGateway(
  options: {
    config?: Partial<ConfigInput> | ((issuer: string) => Partial<ConfigInput>);
    /** The configuration is a file that Sluice does not write. */
    declarative?: boolean;
    settings?: ConfigInput['settings'];
    ports?: TestPorts;
    /** Whether the identity provider gives refresh tokens. */
    refreshTokens?: boolean;
  } = {},
): Promise<SignInGateway> {
  // The identity provider must know the address before the gateway listens there.
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const identity = await startIdentityProvider(`${origin}/control/signed-in`, options);
  identity.groups.set('ada', ['admins']).set('mo', ['leads', 'others']).set('mia', ['devs']).set('nobody', ['others']);
  const people = { issuer: identity.issuer, clientId, clientSecret: 'env:CLIENT_SECRET', roles };
  const sluice = await startControlGateway({
    config: {
      groups: [{ id: 'default' }, { id: 'ours' }],
      settings: { people, ...options.settings },
      ...(typeof options.config === 'function' ? options.config(identity.issuer) : options.config),
    },
    ...(options.declarative && { declarative: true }),
    ports: {
      env: { CLIENT_SECRET: clientSecret },
      people: { publicOrigin: origin, trustedProxies: [] },
      listen: { host: '127.0.0.1', port },
      ...options.ports,
    },
  });
  return {
    sluice,
    identity,
    async signIn(person) {
      const begun = await fetch(`${origin}/control/sign-in`, { redirect: 'manual' });
      const back = await identity.signIn(begun.headers.get('location') ?? '', person);
      return cookieIn(await fetch(back, { redirect: 'manual', headers: { cookie: cookieIn(begun) } }));
    },
    call: (path, { cookie, token }, body) =>
      fetch(`${origin}/control${path}`, {
        redirect: 'manual',
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        headers: {
          'content-type': 'application/json',
          ...(cookie !== undefined && { cookie, origin, 'sec-fetch-site': 'same-origin' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      }),
    async stop() {
      await sluice.stop();
      await identity.stop();
    },
  };
}

/** The last cookie in the response, in the form in which it is sent back. */
export function cookieIn(response: Response): string {
  return (response.headers.getSetCookie().at(-1) ?? '').split(';')[0] ?? '';
}
