import type { StreamEvent } from '../../apis/core/sse-event.ts';
import type { StreamText } from '../../apis/core/stream-text.ts';

/** Limit for bytes before the first content; beyond it the stream is no longer held. */
const maxBytesBeforeContent = 256 * 1024;
/** Limit for a first event while memory is low. */
export const spareBytes = 1024 * 1024;

/** Holds the beginning of a stream until this stream is chosen for the client. */
export class HeldBeginning {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** The held chunks as events, used to track the text if another target may continue the stream. */
  #events: (StreamEvent | null)[] = [];

  get bytes(): number {
    return this.#bytes;
  }

  get isLong(): boolean {
    return this.#bytes > maxBytesBeforeContent;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** @param event null if it is too large to hold */
  note(event: StreamEvent | null): void {
    this.#events.push(event);
  }

  /** Adds the held events to the text that the client has received. */
  addTo(text: StreamText): void {
    for (const event of this.#events) text.take(event);
    this.#events = [];
  }

  /** Returns and clears the held bytes, joined into one buffer unless they are long. */
  takeAll(): Buffer[] {
    const chunks = this.#chunks;
    const isJoined = chunks.length > 1 && !this.isLong;
    this.#chunks = [];
    this.#bytes = 0;
    return isJoined ? [Buffer.concat(chunks)] : chunks;
  }
}
