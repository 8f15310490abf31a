export interface AccessToken {
  value: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

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
