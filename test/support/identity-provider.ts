/** An identity provider on loopback for the people that a test names: `oidc-provider` with its built-in pages. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface TestIdentityProvider {
  issuer: string;
  /** Groups by person. Every name that a test signs in with is a person. */
  groups: Map<string, string[]>;
  /** People whose accounts are disabled. */
  gone: Set<string>;
  /** A logout token for a person, as it posts them. */
  logoutToken(person: string, more?: object): string;
  /**
   * Signs in as a browser would, from the address to which Sluice redirects. Resolves with the address that leads back.
   */
  signIn(address: string, person: string): Promise<string>;
  /** Enters the code that a command line shows, as a person would. */
  agree(verificationUriComplete: string, person: string): Promise<void>;
  stop(): Promise<void>;
}

export const clientId = 'sluice';
export const clientSecret = 'client-secret-of-the-test';

/** `redirectUri` is the address to which it leads back. */
export async function startIdentityProvider(
  redirectUri: string,
  options: { refreshTokens?: boolean } = {},
): Promise<TestIdentityProvider> {
  const groups = new Map<string, string[]>();
  const gone = new Set<string>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const kid = 'of-the-test';
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub', 'groups'], profile: ['name'], email: ['email'] },
    conformIdTokenClaims: false,
    issueRefreshToken: async () => options.refreshTokens ?? false,
    ttl: {
      Interaction: 600,
      Session: 600,
      Grant: 600,
      AccessToken: 600,
      IdToken: 600,
      DeviceCode: 600,
      RefreshToken: 6_000,
    },
    cookies: { keys: ['of the test'] },
    features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
    findAccount: (_context, id) =>
      gone.has(id)
        ? undefined
        : {
            accountId: id,
            claims: () => ({
              sub: id,
              name: `${id} of Acme`,
              email: `${id}@acme.example`,
              groups: groups.get(id) ?? [],
            }),
          },
  });
  const answer = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void answer(request, response));
  return {
    issuer,
    groups,
    gone,
    logoutToken(person, more = {}) {
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
      const iat = Math.floor(Date.now() / 1_000);
      const claims = {
        iss: issuer,
        aud: clientId,
        iat,
        exp: iat + 120,
        jti: randomUUID(),
        sub: person,
        events,
        ...more,
      };
      const parts = [{ alg: 'RS256', kid, typ: 'logout+jwt' }, claims].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      );
      return `${parts.join('.')}.${sign('sha256', Buffer.from(parts.join('.')), privateKey).toString('base64url')}`;
    },
    signIn: (address, person) => new Visit(issuer, person).follow(address),
    async agree(verificationUriComplete, person) {
      await new Visit(issuer, person).follow(verificationUriComplete);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A browser at the identity provider. It keeps cookies, follows redirects and submits the only form of each page. */
class Visit {
  readonly #issuer: string;
  readonly #person: string;
  readonly #cookies = new Map<string, string>();

  constructor(issuer: string, person: string) {
    this.#issuer = issuer;
    this.#person = person;
  }

  /** Resolves with the first address outside the identity provider; empty if the last page has no form. */
  async follow(address: string): Promise<string> {
    let next: { address: string; form?: URLSearchParams } = { address };
    for (let step = 0; step < 20; step++) {
      if (!next.address.startsWith(this.#issuer)) return next.address;
      const response = await this.#ask(next);
      const location = response.headers.get('location');
      if (location !== null) {
        next = { address: new URL(location, next.address).href };
        continue;
      }
      const form = this.#formOf(await response.text(), next.address);
      if (!form) return '';
      next = form;
    }
    throw new Error(`the identity provider leads nowhere: ${next.address}`);
  }

  async #ask({ address, form }: { address: string; form?: URLSearchParams }): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie, accept: 'text/html' },
      ...(form && { method: 'POST', body: form }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }

  #formOf(page: string, address: string): { address: string; form: URLSearchParams } | undefined {
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
    if (action === undefined) return undefined;
    const form = new URLSearchParams();
    for (const [input] of page.matchAll(/<input[^>]*>/g)) {
      const [, name] = /name="([^"]+)"/.exec(input) ?? [];
      const [, value = ''] = /value="([^"]*)"/.exec(input) ?? [];
      if (name !== undefined) form.set(name, name === 'login' ? this.#person : name === 'password' ? 'any' : value);
    }
    return { address: new URL(action.replaceAll('&amp;', '&'), address).href, form };
  }
}
