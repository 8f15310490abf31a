export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Observes a client's response as it is sent, without changing it. */
export interface ClientResponseTap {
  begin(status: number, headers: Headers): void;
  /** The caller may reuse the bytes once the call has returned. */
  take(bytes: Buffer): void;
}

/** Null if there are none, so that the usual response costs only a comparison. */
export function joinTaps(taps: readonly (ClientResponseTap | null)[]): ClientResponseTap | null {
  const present = taps.filter((tap) => tap !== null);
  const [first = null, ...others] = present;
  if (others.length === 0) return first;
  return {
    begin: (status, headers) => {
      for (const tap of present) tap.begin(status, headers);
    },
    take: (bytes) => {
      for (const tap of present) tap.take(bytes);
    },
  };
}
