/**
 * A body that lies in memory, sent in copies of its pieces. Whole, a long one would be encrypted at a stretch and lie in the
 * socket once more; and only what no socket reads natively can be given back the moment it is not needed any more.
 */
import { Readable } from 'node:stream';

const pieceBytes = 256 * 1024;

export class BodyReader extends Readable {
  readonly #segments: Buffer[];
  #at = 0;

  /** @param segments one after the other are the body */
  constructor(segments: readonly Buffer[]) {
    // Nothing is copied ahead of what the socket takes.
    super({ highWaterMark: 0 });
    this.#segments = [...segments];
  }

  override _read(): void {
    const piece = Buffer.allocUnsafeSlow(pieceBytes);
    let filled = 0;
    while (filled < piece.length) {
      const [segment] = this.#segments;
      if (!segment) break;
      const copied = segment.copy(piece, filled, this.#at);
      filled += copied;
      this.#at += copied;
      if (this.#at < segment.length) continue;
      this.#segments.shift();
      this.#at = 0;
    }
    this.push(filled > 0 ? piece.subarray(0, filled) : null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#segments.length = 0;
    done(error);
  }
}
