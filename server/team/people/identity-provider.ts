/** Authenticates people at the identity provider by OpenID Connect. Imported only where people sign in. */
import * as oidc from 'openid-client';
import { GatewayError } from '../../contract/errors.ts';
import type { PeopleSettings } from '../../contract/people.ts';
import type { Fetch } from '../../transport/fetch.ts';

/** A person's identity according to the identity provider. */
export interface Identity {
  issuer: string;
  subject: string;
  name: string;
  email: string | null;
  /** The groups of the claim, unchanged. */
  claimed: readonly string[];
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
  finish(answer: URL, pending: PendingSignIn): Promise<Identity>;
  requestDeviceCode(): Promise<DeviceSignIn>;
  /**
   * Null while the sign-in is pending. Rejects with GatewayError `sign_in_failed` if the person refused or the code
   * expired.
   */
  finishDevice(deviceCode: string): Promise<Identity | null>;
}

const timeoutSeconds = 15;
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const maxClaimed = 2_000;
const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

type Settings = Pick<PeopleSettings, 'issuer' | 'clientId' | 'groupsClaim' | 'scopes'>;

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
      });
      return { url: url.href, pending };
    },
    async finish(answer, { state, nonce, verifier }) {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await oidc.authorizationCodeGrant(await discover(), answer, checks).catch(refused);
      return identityOf(tokens.claims(), settings);
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
      return tokens && identityOf(tokens.claims(), settings);
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

type Claims = NonNullable<ReturnType<oidc.TokenEndpointResponseHelpers['claims']>>;

function identityOf(claims: Claims | undefined, { groupsClaim }: Settings): Identity {
  if (!claims) throw failed('The identity provider sent no ID token');
  const { iss, sub, name, preferred_username: userName, email } = claims;
  const address = textOf(email);
  return {
    issuer: iss,
    subject: sub,
    name: textOf(name) ?? textOf(userName) ?? address ?? sub,
    email: address,
    claimed: namesOf(claims[groupsClaim]),
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
