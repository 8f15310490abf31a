import type { Headers } from './capture/message-capture.ts';

/** Sees a client's response as it is sent, and changes nothing of it. */
export interface ResponseTap {
  begin(status: number, headers: Headers): void;
  /** The bytes may be used again once the call has returned. */
  take(bytes: Buffer): void;
}

/** Null if there is none, so that the usual response pays for a comparison only. */
export function joinTaps(taps: readonly (ResponseTap | null)[]): ResponseTap | null {
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
