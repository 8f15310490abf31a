import type { ResponseHeaders } from '../transport/transport.ts';

/** Sees what the client gets of an upstream's response before the client does, and changes nothing of it. */
export interface ResponseObserver {
  begin(status: number, contentType: string, headers: ResponseHeaders): void;
  take(chunk: Buffer): void;
}
