import type { ServerResponse } from 'node:http';
import type { ClientResponseTap, Headers } from '../record/client-response-tap.ts';

/** Longer answers are not kept. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** Keeps a copy of a response while it is sent. */
export class CacheRecorder implements ClientResponseTap {
  readonly #response: ServerResponse;
  readonly #maxBytes: number;
  /** The comments that Sluice sends in silence, which are no part of the answer. */
  readonly #comment: Buffer | null;
  #status = 0;
  #headers: Record<string, string> = {};
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(response: ServerResponse, options: { maxBytes: number; comment: Buffer | null }) {
    this.#response = response;
    this.#maxBytes = Math.min(options.maxBytes, maxAnswerBytes);
    this.#comment = options.comment;
  }

  begin(status: number, headers: Headers): void {
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value === 'string' && (name.startsWith('content-') || lossHeaderNames.has(name)))
        this.#headers[name] = value;
    }
    for (const name of lossHeaderNames) {
      const set = this.#response.getHeader(name);
      if (typeof set === 'string') this.#headers[name] = set;
    }
  }

  take(bytes: Buffer): void {
    if (bytes === this.#comment) return;
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#maxBytes) this.#pieces.push(Buffer.from(bytes));
    else this.#pieces = [];
  }

  /** Null if the response is too long or not a success. */
  read(): { status: number; headers: Record<string, string>; body: Buffer } | null {
    const isSuccess = this.#status >= 200 && this.#status < 300;
    if (!isSuccess || this.#bytes > this.#maxBytes) return null;
    return { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#pieces) };
  }
}

/** Sluice's own headers that belong to the answer: what its translation lost. */
export const lossHeaderNames: ReadonlySet<string> = new Set(['x-sluice-dropped', 'x-sluice-emulated']);
