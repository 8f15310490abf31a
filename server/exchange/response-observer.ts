import type { ResponseHeaders } from '../transport/transport.ts';

/** Sees an upstream's reply before the client does, and changes nothing of it. */
export interface ReplyInspector {
  begin(status: number, contentType: string, headers: ResponseHeaders): void;
  take(chunk: Buffer): void;
}
