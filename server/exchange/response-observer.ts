import type { ResponseHeaders } from '../transport/transport.ts';

/** Sees each byte of the response before the client gets it; changes nothing. */
export interface ResponseObserver {
  begin(status: number, contentType: string, headers: ResponseHeaders): void;
  take(chunk: Buffer): void;
}
