import type { MaybePromise } from '../maybe-promise.ts';
import type { ResponseHeaders } from '../transport/transport.ts';

/** Sees each byte of the response before the client gets it; changes nothing. */
export interface ResponseObserver {
  begin(status: number, contentType: string, headers: ResponseHeaders): void;
  /** A promise: this piece must not reach the client before it has settled. It does not reject. */
  take(chunk: Buffer): MaybePromise<void>;
}
