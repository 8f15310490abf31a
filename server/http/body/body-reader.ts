/**
 * A body that lies in memory, sent piece by piece. Whole, a long one would be encrypted at a stretch and lie in the socket
 * once more; and only what no socket reads natively can be given back the moment it is not needed any more.
 *
 * As in `spool-reader.ts` a piece is overwritten only where its reader asked for a pause when it got it, and for more since.
 */
import { Readable } from 'node:stream';

const pieceBytes = 256 * 1024;

export class BodyReader extends Readable {
  readonly #segments: Buffer[];
  #at = 0;
  #piece: Buffer | undefined;
  #isPieceFree = false;

  /** @param segments one after the other are the body */
  constructor(segments: readonly Buffer[]) {
    super({ highWaterMark: 0 });
    this.#segments = [...segments];
  }

  override pause(): this {
    this.#isPieceFree = true;
    return super.pause();
  }

  override _read(): void {
    const piece = this.#takePiece();
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
    this.#isPieceFree = false;
    this.push(filled > 0 ? piece.subarray(0, filled) : null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#segments.length = 0;
    done(error);
  }

  #takePiece(): Buffer {
    if (!this.#piece || !this.#isPieceFree) this.#piece = Buffer.allocUnsafeSlow(pieceBytes);
    return this.#piece;
  }
}
