/**
 * Sends a body from memory in copied chunks. Sent as one buffer, a long body would be encrypted in one go and be held by the
 * socket a second time, and its memory could not be freed early.
 */
import { Readable } from 'node:stream';

const pieceBytes = 256 * 1024;

export class BodyReader extends Readable {
  readonly #segments: Buffer[];
  #at = 0;

  /** @param segments the consecutive parts of the body */
  constructor(segments: readonly Buffer[]) {
    // Chunks are copied only as the socket accepts them.
    super({ highWaterMark: 0 });
    this.#segments = [...segments];
  }

  override _read(): void {
    const chunk = Buffer.allocUnsafeSlow(pieceBytes);
    let filled = 0;
    while (filled < chunk.length) {
      const [segment] = this.#segments;
      if (!segment) break;
      const copied = segment.copy(chunk, filled, this.#at);
      filled += copied;
      this.#at += copied;
      if (this.#at < segment.length) continue;
      this.#segments.shift();
      this.#at = 0;
    }
    this.push(filled > 0 ? chunk.subarray(0, filled) : null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#segments.length = 0;
    done(error);
  }
}
