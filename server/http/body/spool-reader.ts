/**
 * Reads ranges of a file, with other bytes in between, through one reused buffer, to save garbage collection.
 *
 * The buffer is reused only if the consumer paused after a chunk and asked for more later, as a pipe into a socket does once
 * the socket has taken everything. Other consumers get a new buffer for each chunk.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange } from '../../apis/json/json-scan.ts';

/** Bytes of one read; the overhead of a read exceeds the cost of its bytes. */
const pieceBytes = 256 * 1024;

export class SpoolReader extends Readable {
  readonly #path: string;
  readonly #segments: readonly (ByteRange | Buffer)[];
  readonly #pieces = this.#read();
  #buffer: Buffer | undefined;
  #isBufferFree = false;

  constructor(path: string, segments: readonly (ByteRange | Buffer)[]) {
    // No read-ahead: there is one chunk at a time.
    super({ highWaterMark: 0 });
    this.#path = path;
    this.#segments = segments;
  }

  override pause(): this {
    this.#isBufferFree = true;
    return super.pause();
  }

  override _read(): void {
    this.#pieces.next().then(
      ({ value }) => {
        this.#isBufferFree = false;
        if (!this.destroyed) this.push(value ?? null);
      },
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#pieces.return(undefined).then(() => done(error), done);
  }

  async *#read(): AsyncGenerator<Buffer, undefined> {
    const file = await open(this.#path, 'r');
    try {
      for (const segment of this.#segments) {
        if (!Buffer.isBuffer(segment)) yield* this.#readRange(file, segment);
        else if (segment.length > 0) yield segment;
      }
    } finally {
      await file.close();
    }
    return undefined;
  }

  async *#readRange(file: FileHandle, { start, end }: ByteRange): AsyncGenerator<Buffer, undefined> {
    for (let at = start; at < end; ) {
      const buffer = this.#takeBuffer(end - at);
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
      if (bytesRead === 0) throw new Error('The temporary file of an upload was truncated.');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    return undefined;
  }

  #takeBuffer(wantedBytes: number): Buffer {
    if (!this.#buffer || !this.#isBufferFree) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.min(wantedBytes, pieceBytes));
    }
    return this.#buffer;
  }
}
