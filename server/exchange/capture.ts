/**
 * One exchange, for a group that wants it kept: headers without what is secret, the beginning of the reply as it passes,
 * and the request's own body if it is held in memory anyway. Knows neither where that is kept nor for how long.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { CapturedExchange, HeaderList } from '../contract/ledger.ts';
import type { IncomingBody } from '../http/body/incoming-body.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { ResponseHeaders } from '../transport/transport.ts';
import { redactBytes } from './redact-credential.ts';
import { redactHeaders } from './redact-headers.ts';
import type { ReplyInspector } from './response-observer.ts';

export class Capture implements ReplyInspector {
  readonly #maxBytes: number;
  readonly #requestHeaders: HeaderList;
  #credential: UpstreamCredential | null = null;
  #responseHeaders: HeaderList | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** @param headers of the client's request */
  constructor(maxBytes: number, headers: IncomingHttpHeaders) {
    this.#maxBytes = maxBytes;
    this.#requestHeaders = redactHeaders(headers, null);
  }

  /** To be called before each sending: what an attempt before it left behind never reached the client. */
  restart(credential: UpstreamCredential | null): void {
    this.#credential = credential;
    this.#responseHeaders = null;
    this.#chunks = [];
    this.#bytes = 0;
  }

  begin(_status: number, _contentType: string, headers: ResponseHeaders): void {
    this.#responseHeaders = redactHeaders(headers, this.#credential);
  }

  take(chunk: Buffer): void {
    if (this.#bytes >= this.#maxBytes) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  exchange(body: IncomingBody | undefined): CapturedExchange<Buffer> {
    return {
      // A copy: the body's own memory is given back when the request is over.
      request: body?.captured ? Buffer.from(body.captured.subarray(0, this.#maxBytes)) : null,
      response: redactBytes(Buffer.concat(this.#chunks), this.#credential),
      requestHeaders: this.#requestHeaders,
      responseHeaders: this.#responseHeaders,
    };
  }
}
