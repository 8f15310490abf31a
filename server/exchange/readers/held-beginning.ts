import type { StreamEvent } from '../../wire/sse-event.ts';
import type { StreamText } from '../../wire/stream-text.ts';

/** Limit for what precedes the first content; beyond it everything passes. */
const maxBytesBeforeContent = 256 * 1024;
/** Limit for a first event while memory is short. */
export const spareBytes = 1024 * 1024;

/** The beginning of a stream, held until it is certain that the client gets this stream. */
export class HeldBeginning {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The same as events, for the text of a stream that another target may continue. */
  #events: (StreamEvent | null)[] = [];

  get bytes(): number {
    return this.#bytes;
  }

  get isLong(): boolean {
    return this.#bytes > maxBytesBeforeContent;
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** Null for an event that is too large to be held. */
  note(event: StreamEvent | null): void {
    this.#events.push(event);
  }

  /** Adds the events to what the client has. */
  tell(text: StreamText): void {
    for (const event of this.#events) text.take(event);
    this.#events = [];
  }

  /** In one piece, as it would have arrived, unless it is long. */
  takeAll(): Buffer[] {
    const pieces = this.#pieces;
    const isJoined = pieces.length > 1 && !this.isLong;
    this.#pieces = [];
    this.#bytes = 0;
    return isJoined ? [Buffer.concat(pieces)] : pieces;
  }
}
