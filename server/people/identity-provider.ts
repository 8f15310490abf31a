/** Asks the identity provider who somebody is, by OpenID Connect. Imported only where people sign in. */
import * as oidc from 'openid-client';
import { GatewayError } from '../contract/errors.ts';
import type { PeopleSettings } from '../contract/people.ts';
import type { Fetch } from '../transport/fetch.ts';

/** Who somebody is, as the identity provider says. */
export interface Identity {
  issuer: string;
  subject: string;
  name: string;
  email: string | null;
  /** The groups of the claim, as they stand there. */
  claimed: readonly string[];
}

/** What is remembered in the browser between leaving for the identity provider and coming back. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
}

/** What a person enters where, to let a program in that has no browser. */
export interface DeviceSignIn {
  deviceCode: string;
  userCode: string;
  verificationUri: string;
  /** With the code in it; null: the identity provider has no such address. */
  verificationUriComplete: string | null;
  expiresInSeconds: number;
  intervalSeconds: number;
}

export interface IdentityProvider {
  /** `returnTo`: the address that takes the answer. */
  begin(returnTo: string): Promise<{ url: string; pending: PendingSignIn }>;
  /** `answer`: the address as the browser came back to it. Rejects with GatewayError `sign_in_failed`. */
  finish(answer: URL, pending: PendingSignIn): Promise<Identity>;
  beginDevice(): Promise<DeviceSignIn>;
  /** Null: the person has not agreed yet. Rejects with GatewayError `sign_in_failed` if they refused or it is too late. */
  finishDevice(deviceCode: string): Promise<Identity | null>;
}

const timeoutSeconds = 15;
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const mostClaimed = 2_000;
const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

type Settings = Pick<PeopleSettings, 'issuer' | 'clientId' | 'groupsClaim' | 'scopes'>;

interface Client {
  /** Null: a public client. */
  clientSecret: string | null;
  fetch: Fetch;
}

/** Its metadata is read with the first sign-in, and again after a failure. */
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
    async beginDevice() {
      const started = await oidc.initiateDeviceAuthorization(await discover(), { scope }).catch(refused);
      return {
        deviceCode: started.device_code,
        userCode: started.user_code,
        verificationUri: started.verification_uri,
        verificationUriComplete: started.verification_uri_complete ?? null,
        expiresInSeconds: started.expires_in,
        // RFC 8628 says 5 where it is absent; 0 would mean to ask without a pause.
        intervalSeconds: started.interval || 5,
      };
    },
    async finishDevice(deviceCode) {
      const asked = oidc.genericGrantRequest(await discover(), deviceGrant, { device_code: deviceCode });
      const tokens = await asked.catch((error: unknown) => (isPending(error) ? null : refused(error)));
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
      // Of what it can send, only forms are sent here.
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

/** A list, or a single name. */
function namesOf(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  return all.filter((each) => typeof each === 'string').slice(0, mostClaimed);
}

function isPending(error: unknown): boolean {
  return (
    error instanceof oidc.ResponseBodyError && (error.error === 'authorization_pending' || error.error === 'slow_down')
  );
}

function refused(error: unknown): never {
  throw failed('The identity provider did not confirm the sign-in', error);
}

/** Tells the protocol's code, such as `access_denied`; a description could quote what was sent. */
function failed(what: string, cause?: unknown): GatewayError {
  const code =
    cause instanceof oidc.ResponseBodyError || cause instanceof oidc.AuthorizationResponseError
      ? ` (${cause.error})`
      : '';
  return new GatewayError('sign_in_failed', `${what}${code}. Try again; if it happens again, ask an administrator.`, {
    cause,
  });
}
