/** Credentials of Google Cloud: a service account, application-default credentials, a token, or an API key. */
import { GatewayError } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import { TransportError } from '../../../transport/transport-error.ts';
import type { Signing } from '../../core/dialects/dialect.ts';
import type { AccessToken } from './google-token.ts';

/** A token this close to its expiry is not used any more, because a request may take a while to arrive. */
const unusableMs = 30_000;
/** From this long before the expiry, a new token is fetched while requests use the old one. */
const renewedMs = 5 * 60_000;

/** Keeps an access token. Requests wait only if there is no valid token. */
export class TokenHolder {
  readonly #now: () => number;
  #token: AccessToken | null = null;
  #fetching: Promise<AccessToken> | null = null;

  /** @param now Unix milliseconds */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** The latest token; null before the first. */
  get latest(): string | null {
    return this.#token?.value ?? null;
  }

  async get(fetchToken: () => Promise<AccessToken>): Promise<string> {
    const remainingMs = (this.#token?.expiresAt ?? 0) - this.#now();
    if (this.#token && remainingMs > renewedMs) return this.#token.value;
    const fetching = this.#fetch(fetchToken);
    if (!this.#token || remainingMs <= unusableMs) return (await fetching).value;
    // If it fails, the next request tries again.
    fetching.catch(() => {});
    return this.#token.value;
  }

  #fetch(fetchToken: () => Promise<AccessToken>): Promise<AccessToken> {
    this.#fetching ??= fetchToken()
      .then((token) => {
        this.#token = token;
        return token;
      })
      .finally(() => {
        this.#fetching = null;
      });
    return this.#fetching;
  }
}

/** Used in place of a secret. Google's library then looks for credentials where `gcloud` stores them. */
const applicationDefault = 'application-default';
/** An access token, as `gcloud auth print-access-token` prints it. */
const tokenBegins = 'ya29.';

/** Headers of credentials that do not expire while Sluice runs; empty for other credentials. */
export function plainCredential(secret: string): Record<string, string> {
  if (needsToken(secret)) return {};
  return secret.startsWith(tokenBegins) ? { authorization: `Bearer ${secret}` } : { 'x-goog-api-key': secret };
}

const needsToken = (secret: string) => secret === applicationDefault || secret.trimStart().startsWith('{');

/** One per secret, so that a changed configuration does not require a new token. */
const holders = new Map<string, TokenHolder>();
/** Far more than anyone uses; beyond it, the least recently used are dropped. */
const mostHolders = 64;

/** null for credentials that `plainCredential` handles. */
export function googleSigning(secret: string): Signing | null {
  if (!needsToken(secret)) return null;
  const holder = holders.get(secret) ?? new TokenHolder();
  holders.delete(secret);
  holders.set(secret, holder);
  for (const oldest of holders.keys()) if (holders.size > mostHolders) holders.delete(oldest);
  const ownSecrets = secretsIn(secret);
  return {
    get secrets() {
      return holder.latest === null ? ownSecrets : [holder.latest, ...ownSecrets];
    },
    async headersFor({ proxy }, transport) {
      const token = await holder.get(async () => {
        // Loaded on first use, because most users have no Google Cloud account.
        const { fetchGoogleToken } = await import('./google-token.ts');
        return refusedWhenFailing(() =>
          fetchGoogleToken(secret === applicationDefault ? null : secret, { transport, proxy }),
        );
      });
      return { authorization: `Bearer ${token}` };
    },
  };
}

/** The secret parts of a service account's or user's file. */
function secretsIn(file: string): readonly string[] {
  try {
    const fields: unknown = JSON.parse(file);
    if (!isObject(fields)) return [];
    const { private_key: key, refresh_token: token, client_secret: client } = fields;
    return [key, token, client].filter((value) => typeof value === 'string');
  } catch {
    return [];
  }
}

async function refusedWhenFailing(fetchToken: () => Promise<AccessToken>): Promise<AccessToken> {
  try {
    return await fetchToken();
  } catch (cause) {
    const unreached = cause instanceof Error && cause.cause instanceof TransportError ? cause.cause : null;
    // Without an answer from Google, nothing is known about the credential.
    if (unreached)
      throw new TransportError(unreached.fault, unreached.phase, `no access token: ${unreached.message}`, cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Google gave no access token for the credential: ${reason}`;
    throw new GatewayError('provider_credential_refused', message, { cause });
  }
}
