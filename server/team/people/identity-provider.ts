/** Authenticates people at the identity provider by OpenID Connect. Imported only where people sign in. */

import { constants, createPublicKey, type VerifyKeyObjectInput, verify } from 'node:crypto';
import * as oidc from 'openid-client';
import { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import type { PeopleSettings } from '../../contract/people.ts';
import type { Fetch } from '../../transport/fetch.ts';

/** A person's identity according to the identity provider. */
interface Identity {
  issuer: string;
  subject: string;
  name: string;
  email: string | null;
  /** The groups of the claim, unchanged. */
  claimed: readonly string[];
  /** By which SCIM knows the person; null if the claim is missing. */
  externalId: string | null;
}

/** State kept in the browser during the redirect to the identity provider and back. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  /** The code verifier of PKCE. */
  verifier: string;
}

/** The code and address of a device sign-in, for programs without a browser. */
export interface DeviceSignIn {
  deviceCode: string;
  userCode: string;
  verificationUri: string;
  /** The address that includes the code; null if the identity provider offers none. */
  verificationUriComplete: string | null;
  expiresInSeconds: number;
  intervalSeconds: number;
}

export interface IdentityProvider {
  /** `returnTo`: the redirect URI. */
  begin(returnTo: string): Promise<{ url: string; pending: PendingSignIn }>;
  /** `answer`: the address to which the browser was redirected. Rejects with GatewayError `sign_in_failed`. */
  finish(answer: URL, pending: PendingSignIn): Promise<SignedIn>;
  requestDeviceCode(): Promise<DeviceSignIn>;
  /**
   * Null while the sign-in is pending. Rejects with GatewayError `sign_in_failed` if the person refused or the code
   * expired.
   */
  finishDevice(deviceCode: string): Promise<SignedIn | null>;
  /**
   * What it says of the person now; null if it has taken back the refresh token. Rejects with GatewayError
   * `sign_in_failed` if it does not say.
   */
  refresh(refreshToken: string, subject: string): Promise<SignedIn | null>;
  /** Reads a logout token (OpenID Connect Back-Channel Logout). Rejects with an Error. */
  checkLogout(logoutToken: string, nowMs: number): ReturnType<ReturnType<typeof createLogoutCheck>>;
}

/** What the identity provider said. */
export interface SignedIn {
  identity: Identity;
  /** Null if it gave none. */
  refreshToken: string | null;
}

const timeoutSeconds = 15;
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const maxClaimed = 2_000;
const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

type Settings = Pick<PeopleSettings, 'issuer' | 'clientId' | 'groupsClaim' | 'scopes' | 'externalIdClaim'>;

interface Client {
  /** Null for a public client. */
  clientSecret: string | null;
  fetch: Fetch;
}

/** The provider's metadata is read at the first sign-in, and again after a failure. */
export function createIdentityProvider(settings: Settings, client: Client): IdentityProvider {
  const scope = [...new Set(['openid', ...settings.scopes])].join(' ');
  let discovered: Promise<oidc.Configuration> | null = null;
  const discover = () => {
    discovered ??= readMetadata(settings, client).catch((error: unknown) => {
      discovered = null;
      throw failed('The identity provider does not answer as expected', error);
    });
    return discovered;
  };
  const checkLogout = createLogoutCheck(async () => {
    const { jwks_uri: keysAt = '' } = (await discover()).serverMetadata();
    const answer = await client.fetch(keysAt, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutSeconds * 1_000),
    });
    return answer.json();
  });
  return {
    async begin(returnTo) {
      const configuration = await discover();
      const pending = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: returnTo,
        scope,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        // Without being asked again, nobody can agree to it (OpenID Connect Core, 11).
        ...(settings.scopes.includes('offline_access') && { prompt: 'consent' }),
      });
      return { url: url.href, pending };
    },
    async finish(answer, { state, nonce, verifier }) {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await oidc.authorizationCodeGrant(await discover(), answer, checks).catch(refused);
      return signedIn(tokens, settings);
    },
    async requestDeviceCode() {
      const started = await oidc.initiateDeviceAuthorization(await discover(), { scope }).catch(refused);
      return {
        deviceCode: started.device_code,
        userCode: started.user_code,
        verificationUri: started.verification_uri,
        verificationUriComplete: started.verification_uri_complete ?? null,
        expiresInSeconds: started.expires_in,
        // RFC 8628 defines 5 as the default; 0 would mean polling without a pause.
        intervalSeconds: started.interval || 5,
      };
    },
    async finishDevice(deviceCode) {
      const pendingTokens = oidc.genericGrantRequest(await discover(), deviceGrant, { device_code: deviceCode });
      const tokens = await pendingTokens.catch((error: unknown) => (isPending(error) ? null : refused(error)));
      return tokens && signedIn(tokens, settings);
    },
    refresh: async (refreshToken, subject) => refreshed(await discover(), { refreshToken, subject, settings }),
    async checkLogout(logoutToken, nowMs) {
      const { issuer } = (await discover()).serverMetadata();
      return checkLogout(logoutToken, { issuer, audience: settings.clientId, nowMs });
    },
  };
}

function readMetadata({ issuer, clientId }: Settings, { clientSecret, fetch }: Client): Promise<oidc.Configuration> {
  const server = new URL(issuer);
  const isTrial = server.protocol === 'http:' && loopback.test(server.hostname);
  return oidc.discovery(
    server,
    clientId,
    clientSecret ?? undefined,
    clientSecret === null ? oidc.None() : oidc.ClientSecretBasic(clientSecret),
    {
      // Of the possible body types, only forms are sent here.
      [oidc.customFetch]: (url, { body, ...options }) =>
        fetch(url, { ...options, body: body instanceof URLSearchParams ? body.toString() : null }),
      timeout: timeoutSeconds,
      execute: [oidc.enableNonRepudiationChecks, ...(isTrial ? [oidc.allowInsecureRequests] : [])],
    },
  );
}

async function refreshed(
  configuration: oidc.Configuration,
  { refreshToken, subject, settings }: { refreshToken: string; subject: string; settings: Settings },
): Promise<SignedIn | null> {
  const tokens = await oidc.refreshTokenGrant(configuration, refreshToken).catch((error: unknown) => {
    if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') return null;
    throw failed('The identity provider does not say who is still there', error);
  });
  if (tokens === null) return null;
  const { issuer, userinfo_endpoint: userInfoAt } = configuration.serverMetadata();
  // Not every provider sends an ID token again, and not every one the groups in it.
  const again = tokens.claims();
  const isComplete = again !== undefined && (again[settings.groupsClaim] !== undefined || userInfoAt === undefined);
  const more = isComplete ? {} : await oidc.fetchUserInfo(configuration, tokens.access_token, subject).catch(refused);
  const claims: Claims = { ...more, ...again, sub: again?.sub ?? subject, iss: issuer };
  if (claims.sub !== subject) throw failed('The identity provider spoke of somebody else');
  const isToldOfGroups = again !== undefined || claims[settings.groupsClaim] !== undefined;
  if (!isToldOfGroups) throw failed('The identity provider does not say the groups again');
  const identity = identityOf(claims, settings);
  return { identity, refreshToken: tokens.refresh_token ?? refreshToken };
}

function signedIn(
  tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
  settings: Settings,
): SignedIn {
  return { identity: identityOf(tokens.claims(), settings), refreshToken: tokens.refresh_token ?? null };
}

type Claims = Pick<IdToken, 'iss' | 'sub'> & Readonly<Record<string, unknown>>;
type IdToken = NonNullable<ReturnType<oidc.TokenEndpointResponseHelpers['claims']>>;

function identityOf(claims: Claims | undefined, { groupsClaim, externalIdClaim }: Settings): Identity {
  if (!claims) throw failed('The identity provider sent no ID token');
  const { iss, sub, name, preferred_username: userName, email } = claims;
  const address = textOf(email);
  const externalId = claims[externalIdClaim];
  return {
    issuer: iss,
    subject: sub,
    name: textOf(name) ?? textOf(userName) ?? address ?? sub,
    email: address,
    claimed: namesOf(claims[groupsClaim]),
    externalId: typeof externalId === 'string' && externalId !== '' ? externalId : null,
  };
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value.slice(0, 200) : null);

/** Accepts a list or a single name. */
function namesOf(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  return all.filter((each) => typeof each === 'string').slice(0, maxClaimed);
}

function isPending(error: unknown): boolean {
  return (
    error instanceof oidc.ResponseBodyError && (error.error === 'authorization_pending' || error.error === 'slow_down')
  );
}

function refused(error: unknown): never {
  throw failed('The identity provider did not confirm the sign-in', error);
}

/** Names only the protocol's error code, such as `access_denied`; a description could quote secrets. */
function failed(problem: string, cause?: unknown): GatewayError {
  const code =
    cause instanceof oidc.ResponseBodyError || cause instanceof oidc.AuthorizationResponseError
      ? ` (${cause.error})`
      : '';
  return new GatewayError(
    'sign_in_failed',
    `${problem}${code}. Try again; if it happens again, ask an administrator.`,
    {
      cause,
    },
  );
}

// Checks logout tokens of an identity provider (OpenID Connect Back-Channel Logout 1.0, 2.6).

const keySchema = z.looseObject({
  kty: z.string(),
  kid: z.string().optional(),
  use: z.string().optional(),
  alg: z.string().optional(),
});
const keySetSchema = z.object({ keys: z.array(keySchema).max(100) });

const headerSchema = z.object({ alg: z.string(), kid: z.string().optional() });
const event = 'http://schemas.openid.net/event/backchannel-logout';
const claimsSchema = z.object({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  iat: z.number(),
  exp: z.number().optional(),
  jti: z.string().min(1).max(1_000),
  // Sessions are not told apart: the person leaves all of them.
  sub: z.string({ error: 'the logout token names no person (sub)' }),
  events: z.object({ [event]: z.record(z.string(), z.unknown()) }),
  nonce: z.undefined({ error: 'a logout token has no nonce' }).optional(),
});

/** A token that is older than this could have been recorded. */
const maxAgeMs = 5 * 60_000;
const clockSkewMs = 60_000;

interface Algorithm {
  kty: string;
  /** The curve of its keys. */
  crv?: string;
  digest: string | null;
  /** How the keys are used. */
  how?: Omit<VerifyKeyObjectInput, 'key'>;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  RS256: { kty: 'RSA', digest: 'sha256' },
  PS256: {
    kty: 'RSA',
    digest: 'sha256',
    how: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  },
  ES256: { kty: 'EC', crv: 'P-256', digest: 'sha256', how: { dsaEncoding: 'ieee-p1363' } },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', digest: null },
};

interface Expected {
  keys: z.infer<typeof keySchema>[];
  issuer: string;
  audience: string;
  nowMs: number;
}

interface Logout {
  /** Whose sessions it ends. */
  subject: string;
  id: string;
  /** Until when the token is valid. */
  endsMs: number;
}

type CheckLogout = (token: string, expected: Omit<Expected, 'keys'>) => Promise<Logout>;

/** For so long keys are used again, since anybody can make Sluice look at them. */
const keysForMs = 10_000;

/** `readKeys` gets the identity provider's key set (RFC 7517). The check rejects with an Error that says what is wrong. */
export function createLogoutCheck(readKeys: () => Promise<unknown>): CheckLogout {
  let read: { keys: Promise<z.infer<typeof keySetSchema>>; atMs: number } | null = null;
  return async (token, expected) => {
    if (read === null || expected.nowMs - read.atMs >= keysForMs)
      read = { keys: readKeys().then((answer) => keySetSchema.parse(answer)), atMs: expected.nowMs };
    return readLogout(token, { ...expected, keys: (await read.keys).keys });
  };
}

/** Of identity providers that end thousands of sessions in a moment. */
const maxRemembered = 10_000;

/** Logout tokens that have been obeyed, so that each is obeyed once. */
export class SeenLogouts {
  /** By id: until when it is valid; in the order of their coming. */
  readonly #seen = new Map<string, number>();

  refuseSeen({ id }: Logout): void {
    if (this.#seen.has(id)) throw new Error('the logout token has come before');
  }

  add({ id, endsMs }: Logout, nowMs: number): void {
    for (const [each, untilMs] of this.#seen)
      if (untilMs < nowMs || this.#seen.size >= maxRemembered) this.#seen.delete(each);
    this.#seen.set(id, endsMs);
  }
}

/** Throws an Error that says what is wrong with it. */
function readLogout(token: string, { keys, issuer, audience, nowMs }: Expected): Logout {
  const [head = '', body = '', signature = '', ...rest] = token.split('.');
  if (rest.length > 0) throw new Error('the logout token is no signed token');
  const { alg, kid } = headerSchema.parse(jsonOf(head));
  const algorithm = Object.hasOwn(algorithms, alg) ? algorithms[alg] : undefined;
  if (!algorithm) throw new Error(`the logout token is signed by ${alg.slice(0, 20)}`);
  const [key, another] = keys.filter((each) => fits(each, { alg, kid, ...algorithm }));
  // Trying one after another, a token of anybody could cost as much work as there are keys.
  if (!key || another) throw new Error('the logout token names no key of the identity provider, or several');
  const signed = Buffer.from(`${head}.${body}`);
  const publicKey = { key: createPublicKey({ key, format: 'jwk' }), ...algorithm.how };
  if (!verify(algorithm.digest, signed, publicKey, Buffer.from(signature, 'base64url')))
    throw new Error('the logout token is not signed by the identity provider');
  const claims = claimsSchema.parse(jsonOf(body));
  if (claims.iss !== issuer) throw new Error('the logout token is of another identity provider');
  if (![claims.aud].flat().includes(audience)) throw new Error('the logout token is for another client');
  const issuedMs = claims.iat * 1_000;
  const endsMs = claims.exp === undefined ? issuedMs + maxAgeMs : claims.exp * 1_000;
  if (issuedMs > nowMs + clockSkewMs || issuedMs < nowMs - maxAgeMs || endsMs < nowMs - clockSkewMs)
    throw new Error('the logout token is not of now');
  return { subject: claims.sub, id: claims.jti, endsMs: issuedMs + maxAgeMs + clockSkewMs };
}

function jsonOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    throw new Error('the logout token is no signed token');
  }
}

function fits(
  key: z.infer<typeof keySchema>,
  { alg, kid, kty, crv }: Algorithm & { alg: string; kid: string | undefined },
): boolean {
  if (key.kty !== kty || (crv !== undefined && key.crv !== crv) || key.use === 'enc') return false;
  return (kid === undefined || key.kid === kid) && (key.alg === undefined || key.alg === alg);
}
