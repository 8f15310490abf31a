/**
 * Captures one exchange for a group that enables it: the beginning of the response as it passes, and the request body if
 * it is held in memory anyway. Secrets are redacted from headers and bodies. Does not know where or how long captures are
 * stored.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { CapturedExchange, HeaderList } from '../contract/ledger.ts';
import type { ResponseHeaders } from '../transport/transport.ts';
import { overlapBytes, redactBytes } from './redact-credential.ts';
import { redactHeaders } from './redact-headers.ts';
import type { RequestBody } from './request-body.ts';
import type { ResponseObserver } from './response-observer.ts';

export class Capture implements ResponseObserver {
  readonly #maxBytes: number;
  readonly #requestHeaders: HeaderList;
  #secrets: readonly string[];
  #responseHeaders: HeaderList | null = null;
  /** Null if the response is not captured. */
  #chunks: Buffer[] | null = [];
  #bytes = 0;

  /**
   * @param headers headers of the client's request
   * @param presented the keys that the client sent
   */
  constructor(maxBytes: number, headers: IncomingHttpHeaders, presented: readonly string[]) {
    this.#maxBytes = maxBytes;
    this.#requestHeaders = redactHeaders(headers, presented);
    this.#secrets = presented;
  }

  /**
   * Called before each sending, since what an earlier attempt captured never reached the client. `secrets` are those of
   * the client and of this attempt.
   */
  restart(secrets: readonly string[]): void {
    this.#secrets = secrets;
    this.#responseHeaders = null;
    this.#chunks = [];
    this.#bytes = 0;
  }

  begin(_status: number, _contentType: string, headers: ResponseHeaders): void {
    this.#responseHeaders = redactHeaders(headers, this.#secrets);
    // Secrets could not be found in compressed data.
    if (!isPlain(headers)) this.#chunks = null;
  }

  take(chunk: Buffer): void {
    if (this.#chunks === null || this.#bytes >= this.#maxBytes + overlapBytes) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  exchange(body: RequestBody | undefined): CapturedExchange<Buffer> {
    return {
      // A copy: the body's own memory is released when the request ends.
      request: body?.captured ? Buffer.from(this.#kept(body.captured)) : null,
      response: this.#chunks && this.#kept(Buffer.concat(this.#chunks)),
      requestHeaders: this.#requestHeaders,
      responseHeaders: this.#responseHeaders,
    };
  }

  #kept(bytes: Buffer): Buffer {
    return redactBytes(bytes, this.#secrets, this.#maxBytes);
  }
}

function isPlain({ 'content-encoding': encoding }: ResponseHeaders): boolean {
  return (
    encoding === undefined || (typeof encoding === 'string' && ['', 'identity'].includes(encoding.trim().toLowerCase()))
  );
}
