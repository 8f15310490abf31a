/** What a wire has to provide so that another target can continue a broken stream of text. Pure. */
import type { ErrorBody } from '../../contract/errors.ts';
import { readEvent, type StreamEvent } from './sse-event.ts';

/** What a client has of a broken stream. */
export interface PartialText {
  text: string;
  /** Only the end of the stream is missing. */
  isFinished: boolean;
  /** The client's id of the answer, if it can be fetched later. */
  storedId?: string;
}

/** Collects what a client has of a text stream. */
export interface StreamText {
  /** Adds an event that the client gets; null for one that was too large to be held. Returns the text that it adds. */
  take(event: StreamEvent | null): string;
  /** Adds the text of an event that matched a shape: the bytes between its quotes, still escaped. */
  append(bytes: Buffer, start: number, end: number): void;
  /** Called with the sequence number of such an event. */
  counted(sequenceNumber: number): void;
  /** Null if the stream cannot be continued. */
  read(): PartialText | null;
  /** The final bytes of a stream whose text is finished; null if more than these is missing. */
  readonly lastEvent: Buffer | null;
  /** The event that reports the error to the client. */
  errorEvent(error: ErrorBody): string;
}

/** Rewrites the events of a second stream as a continuation of the first one, based on what the client has. */
export interface Splice {
  /** The upstream's id of the answer, if it can be fetched later. */
  readonly upstreamId: string | null;
  /** The text contradicts what the client has. */
  readonly isDifferent: boolean;
  /** The answer is complete. */
  readonly isFinished: boolean;
  /** `data` of a valid event that is not an error. Returns what to send, or null for nothing. */
  take(data: string): Buffer | null;
}

export interface SpliceOptions {
  /** The upstream was asked to continue the client's text rather than for the whole answer. */
  isContinuation: boolean;
  /** Only Sluice asked for usage. */
  stripUsage: boolean;
}

/** What a service requires of a request whose last message is the beginning of the answer. */
export interface Prefix {
  /** Additional members of that message. */
  message: Record<string, unknown>;
  /** Additional members of the request. */
  request: Record<string, unknown>;
}

/** Declared as methods, so that a wire may use a subtype of `PartialText`. */
export interface RescueFormat<SoFar extends PartialText = PartialText> {
  openText(): StreamText;
  openSplice(soFar: SoFar, options: SpliceOptions): Splice;
  /** A request for the rest of an answer that begins with `text`; null if there can be none. */
  continuedBody(body: Buffer, text: string, prefix: Prefix): Promise<Buffer | null>;
}

/** Adds whole server-sent events written by Sluice itself. */
export function takeEvents(text: StreamText, bytes: Buffer): void {
  for (const event of bytes.toString('utf8').split('\n\n')) text.take(readEvent(event));
}

/** Compares a text that arrives in pieces with the beginning that a client already has; each character once. Pure. */
export class TextMatch {
  readonly #expected: string;
  readonly #allowsSuffix: boolean;
  /** How many characters have matched. */
  #matched = 0;
  /** The text goes beyond the expected one, or ended equal to it. */
  isBeyond = false;
  /** The text contradicts the expected one. */
  isDifferent = false;

  /** `allowsSuffix`: a text that differs is the requested continuation. */
  constructor(expected: string, allowsSuffix: boolean) {
    this.#expected = expected;
    this.#allowsSuffix = allowsSuffix;
  }

  /** The part of the next piece that the client lacks; null while it lacks nothing. `isLast`: no more text follows. */
  take(text: string, isLast: boolean): string | null {
    if (this.isBeyond) return text;
    const remaining = this.#expected.length - this.#matched;
    const isSame = this.#expected.startsWith(text.slice(0, remaining), this.#matched);
    if (isSame && text.length >= remaining) {
      this.#matched = this.#expected.length;
      const more = text.slice(remaining);
      this.isBeyond = more !== '' || isLast;
      return this.isBeyond ? more : null;
    }
    if (isSame && !isLast) {
      this.#matched += text.length;
      return null;
    }
    // Some models repeat the given beginning before they continue it; most do not.
    this.isBeyond = this.#allowsSuffix;
    this.isDifferent = !this.isBeyond;
    return this.isBeyond ? this.#expected.slice(0, this.#matched) + text : null;
  }
}
