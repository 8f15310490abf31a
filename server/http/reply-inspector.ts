/** Sees an upstream's reply before the client does, and changes nothing of it. */
export interface ReplyInspector {
  begin(status: number, contentType: string): void;
  take(chunk: Buffer): void;
}
