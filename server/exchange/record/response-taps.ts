/** Who watches a response: at the client's side, and at the upstream's. */
import type { MaybePromise } from '../../ground/promises.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';

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

/** Observes each byte of the response before the client gets it, without changing it. */
export interface UpstreamResponseObserver {
  begin(status: number, contentType: string, headers: ResponseHeaders): void;
  /** If it returns a promise, which never rejects, the chunk must not reach the client before that has settled. */
  take(chunk: Buffer): MaybePromise<void>;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Whether a JSON object may end with this chunk. */
export function endsInBrace(chunk: Buffer): boolean {
  return chunk
    .toString('latin1', Math.max(0, chunk.length - 16))
    .trimEnd()
    .endsWith('}');
}
