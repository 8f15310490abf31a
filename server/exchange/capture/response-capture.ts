import type { CapturedMessage, CapturedResponse, CaptureGap } from '../../contract/capture.ts';
import type { Headers } from '../record/client-response-tap.ts';
import { BodyStart, type CaptureRules, capturedMessage, isPlain, withoutBody } from './message-capture.ts';

/** The head of a response and the first bytes of its body, as they pass. */
export class ResponseCapture {
  readonly #maxBytes: number;
  #body: BodyStart;
  #status: number | null = null;
  #headers: Headers | null = null;
  #isReadable = true;
  #hasEnded = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#body = new BodyStart(maxBytes);
  }

  /** `isDecoded`: the chunks will be uncompressed, whatever the headers say. */
  begin(status: number, headers: Headers, isDecoded = false): void {
    this.#status = status;
    this.#headers = headers;
    this.#isReadable = isDecoded || isPlain(headers);
    this.#hasEnded = false;
    this.#body = new BodyStart(this.#maxBytes);
  }

  take(chunk: Buffer): void {
    if (this.#isReadable) this.#body.take(chunk);
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** `mayEndEarly`: a response that was not read to its end is complete all the same. */
  captured(rules: CaptureRules, mayEndEarly: boolean): CapturedResponse<Buffer> {
    return { status: this.#status, ...this.#message(rules, mayEndEarly) };
  }

  /** Without the body, for this reason. */
  unkept(gap: CaptureGap, rules: CaptureRules): CapturedResponse<Buffer> {
    return { status: this.#status, ...withoutBody(this.#headers, gap, rules) };
  }

  /** Whether the kept bytes of both are equal. */
  equals(other: ResponseCapture): boolean {
    if (!this.#isReadable || !other.#isReadable || this.#body.bytes !== other.#body.bytes) return false;
    return this.#body.bytes > 0 && this.#body.kept.equals(other.#body.kept);
  }

  /** Makes its bytes its own, and shares those that are equal to the client's. Returns how many it holds. */
  own(client: ResponseCapture | null): number {
    if (client && this.equals(client)) {
      this.#body = client.#body;
      return 0;
    }
    this.#body.own();
    return this.#body.kept.length;
  }

  #message(rules: CaptureRules, mayEndEarly: boolean): CapturedMessage<Buffer> {
    if (this.#headers === null) return withoutBody(null, 'no-response', rules);
    if (!this.#isReadable) return withoutBody(this.#headers, 'compressed', rules);
    const isCut = !this.#hasEnded && !mayEndEarly;
    const raw = { start: this.#body.kept, totalBytes: this.#body.bytes, isCut };
    return capturedMessage(this.#headers, raw, rules);
  }
}
