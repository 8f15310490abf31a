/**
 * Parses HTTP/1.1 messages from a socket's pieces, for both ends of the bench. It implements only what the bench needs
 * (no trailers, no chunk extensions, bodies only by length or in chunks), so that the gateway between the two ends
 * dominates the measurement.
 */

interface MessageHandlers {
  /** The start line and the headers. */
  onHead(head: string): void;
  /** A piece of the body. It is only valid during the call. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

const blankLine = '\r\n\r\n';
const LF = 0x0a;
const CR = 0x0d;

export class MessageReader {
  readonly #handlers: MessageHandlers;
  #partialHead: Buffer = Buffer.alloc(0);
  #inBody = false;
  #chunked = false;
  /** Remaining bytes of the body or of its current chunk. */
  #left = 0;
  #chunkSize = 0;
  #hasDigits = false;
  #lastChunkSeen = false;

  constructor(handlers: MessageHandlers) {
    this.#handlers = handlers;
  }

  push(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      if (!this.#inBody) at = this.#readHead(piece, at);
      else if (this.#left > 0) at = this.#readBody(piece, at);
      else at = this.#readChunkLine(piece, at);
    }
  }

  #readHead(piece: Buffer, from: number): number {
    const known = this.#partialHead.length;
    const bytes = known > 0 ? Buffer.concat([this.#partialHead, piece.subarray(from)]) : piece.subarray(from);
    const end = bytes.indexOf(blankLine);
    if (end === -1) {
      this.#partialHead = Buffer.from(bytes);
      return piece.length;
    }
    this.#partialHead = Buffer.alloc(0);
    this.#beginBody(bytes.toString('latin1', 0, end));
    return from + end + blankLine.length - known;
  }

  #beginBody(head: string): void {
    this.#handlers.onHead(head);
    this.#inBody = true;
    this.#chunked = /\ntransfer-encoding: *chunked/i.test(head);
    this.#left = this.#chunked ? 0 : Number(/\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (!this.#chunked && this.#left === 0) this.#endBody();
  }

  #readBody(piece: Buffer, from: number): number {
    const to = Math.min(from + this.#left, piece.length);
    this.#left -= to - from;
    this.#handlers.onBody(piece.subarray(from, to));
    if (this.#left === 0 && !this.#chunked) this.#endBody();
    return to;
  }

  /**
   * Reads byte by byte, because pieces may be cut anywhere. A line without digits ends a chunk, or the body after a
   * chunk of size 0.
   */
  #readChunkLine(piece: Buffer, from: number): number {
    const byte = piece[from] ?? LF;
    if (byte === LF) this.#endChunkLine();
    else if (byte !== CR) {
      this.#chunkSize = this.#chunkSize * 16 + hexDigit(byte);
      this.#hasDigits = true;
    }
    return from + 1;
  }

  #endChunkLine(): void {
    if (this.#hasDigits) {
      this.#left = this.#chunkSize;
      this.#lastChunkSeen = this.#chunkSize === 0;
      this.#chunkSize = 0;
      this.#hasDigits = false;
    } else if (this.#lastChunkSeen) {
      this.#lastChunkSeen = false;
      this.#endBody();
    }
  }

  #endBody(): void {
    this.#inBody = false;
    this.#handlers.onEnd();
  }
}

function hexDigit(byte: number): number {
  return byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
}
