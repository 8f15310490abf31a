/**
 * One exchange, for a group that wants it kept: the beginning of the reply as it passes, and of the request's own body if
 * it is held in memory anyway; headers and bodies without what is secret in them. Knows neither where that is kept nor for how long.
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
  /** Null where the reply is not kept. */
  #chunks: Buffer[] | null = [];
  #bytes = 0;

  /**
   * @param headers of the client's request
   * @param presented the key that it was sent with
   */
  constructor(maxBytes: number, headers: IncomingHttpHeaders, presented: readonly string[]) {
    this.#maxBytes = maxBytes;
    this.#requestHeaders = redactHeaders(headers, presented);
    this.#secrets = presented;
  }

  /**
   * To be called before each sending: what an attempt before it left behind never reached the client. `secrets` are those
   * of the client and of this attempt.
   */
  restart(secrets: readonly string[]): void {
    this.#secrets = secrets;
    this.#responseHeaders = null;
    this.#chunks = [];
    this.#bytes = 0;
  }

  begin(_status: number, _contentType: string, headers: ResponseHeaders): void {
    this.#responseHeaders = redactHeaders(headers, this.#secrets);
    // In what is compressed no secret would be found.
    if (!isPlain(headers)) this.#chunks = null;
  }

  take(chunk: Buffer): void {
    if (this.#chunks === null || this.#bytes >= this.#maxBytes + overlapBytes) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  exchange(body: RequestBody | undefined): CapturedExchange<Buffer> {
    return {
      // A copy: the body's own memory is given back when the request is over.
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
