import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';

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
