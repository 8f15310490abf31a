/** Keeps the bytes of an upload so that they can be sent several times: in memory, or in a private temporary file. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ByteRange } from '../../apis/json/json-scan.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Sendable } from '../../exchange/request/request-body.ts';
import { describeFileProblem, systemErrorCode } from '../../ground/files/regular-file.ts';

export interface SpoolOptions {
  /** The folder for the temporary file; must exist. After a crash it is emptied at the next start (`claim-folder.ts`). */
  folder: string;
  /** The upload's declared length. */
  expectedBytes?: number;
  /** Bytes kept in memory before the file is created, up to 256 kB. */
  memoryBytes?: number;
}

/** The buffer of an upload: all of a short one, or the bytes of the next write. */
export const spoolMemoryBytes = 256 * 1024;
const fileSuffix = '.upload';
const nothing = Buffer.alloc(0);

/** Existing spools and files in this process, for tests; both are zero when there is no upload. */
export const spoolCounts = { spools: 0, files: 0 };

export class Spool {
  readonly #path: string;
  readonly #memoryBytes: number;
  readonly #readers = new Set<Readable>();
  /** One buffer for the whole upload, so that chunks need not be kept. */
  #buffer: Buffer;
  #bufferedBytes = 0;
  #file: FileHandle | undefined;
  #isInFile = false;
  #size = 0;
  #writing: Promise<void> = Promise.resolve();
  #disposal: Promise<void> | undefined;

  constructor({ folder, expectedBytes = spoolMemoryBytes, memoryBytes = spoolMemoryBytes }: SpoolOptions) {
    this.#path = path.join(folder, `${randomUUID()}${fileSuffix}`);
    this.#memoryBytes = memoryBytes;
    this.#buffer = Buffer.allocUnsafe(Math.min(Math.max(1, expectedBytes), spoolMemoryBytes));
    spoolCounts.spools++;
  }

  /** Bytes received so far. */
  get size(): number {
    return this.#size;
  }

  /** Takes a chunk, which may be reused after `done`. The next call must wait for `done`. */
  write(chunk: Buffer, done: (error?: Error) => void): void {
    this.#size += chunk.length;
    const hasRoom = this.#bufferedBytes + chunk.length <= this.#buffer.length;
    const isFileDue = !this.#isInFile && this.#size > this.#memoryBytes;
    if (this.#disposal) {
      done(new Error('The upload was abandoned.'));
    } else if (hasRoom && !isFileDue) {
      this.#fillBuffer(chunk, 0);
      done();
    } else {
      this.#writing = this.#spill(chunk);
      this.#writing.then(
        () => done(),
        (error: unknown) => done(unwritable(error)),
      );
    }
  }

  /** All bytes were received; from now on they can be read. */
  async finish(): Promise<void> {
    if (!this.#isInFile) return;
    try {
      await this.#flush();
      await this.#closeFile();
    } catch (error) {
      throw unwritable(error);
    }
  }

  /** The received bytes. */
  whole(): Sendable & { length: number } {
    return this.assemble([{ start: 0, end: this.#size }]);
  }

  /** A body of ranges of the spooled bytes and other bytes in between. */
  assemble(segments: readonly (ByteRange | Buffer)[]): Sendable & { length: number } {
    const length = segments.reduce((sum, segment) => sum + segmentLength(segment), 0);
    return { length, open: () => (this.#isInFile ? this.#read(segments) : this.#join(segments)) };
  }

  /** The bytes of a range. */
  async read(range: ByteRange): Promise<Buffer> {
    const content = this.assemble([range]).open();
    if (Buffer.isBuffer(content)) return content;
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /**
   * Discards the bytes and removes the file, even during a write or read. Idempotent; never rejects: a file that cannot be
   * removed is removed at the next start.
   */
  dispose(): Promise<void> {
    this.#disposal ??= this.#remove();
    return this.#disposal;
  }

  /** Buffers as much of the chunk from `from` on as there is room for; returns the number of bytes. */
  #fillBuffer(chunk: Buffer, from: number): number {
    const copied = chunk.copy(this.#buffer, this.#bufferedBytes, from);
    this.#bufferedBytes += copied;
    return copied;
  }

  async #spill(chunk: Buffer): Promise<void> {
    if (!this.#isInFile) {
      this.#isInFile = true;
      spoolCounts.files++;
      this.#file = await open(this.#path, 'wx', 0o600);
    }
    for (let at = this.#fillBuffer(chunk, 0); at < chunk.length; at += this.#fillBuffer(chunk, at)) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#file?.appendFile(this.#buffer.subarray(0, this.#bufferedBytes));
    this.#bufferedBytes = 0;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#buffer = nothing;
    await file?.close();
  }

  async #remove(): Promise<void> {
    spoolCounts.spools--;
    const readers = [...this.#readers].map((reader) => finished(reader.destroy()));
    await Promise.allSettled(readers);
    await this.#writing.catch(() => undefined); // Told to `done` already.
    this.#buffer = nothing;
    if (!this.#isInFile) return;
    await this.#closeFile().catch(() => undefined);
    await rm(this.#path, { force: true }).catch(() => undefined);
    spoolCounts.files--;
  }

  #join(segments: readonly (ByteRange | Buffer)[]): Buffer {
    const bytes = this.#buffer;
    const [segment] = segments;
    if (segments.length === 1 && segment && !Buffer.isBuffer(segment))
      return bytes.subarray(segment.start, segment.end);
    return Buffer.concat(segments.map((part) => (Buffer.isBuffer(part) ? part : bytes.subarray(part.start, part.end))));
  }

  #read(segments: readonly (ByteRange | Buffer)[]): Readable {
    const reader = new SpoolReader(this.#path, segments);
    this.#readers.add(reader);
    return reader.once('close', () => this.#readers.delete(reader));
  }
}

/** Errors of the disk; others are internal errors. */
const diskProblems = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

function unwritable(error: unknown): Error {
  if (!diskProblems.has(systemErrorCode(error) ?? '')) return error instanceof Error ? error : new Error(String(error));
  return new GatewayError(
    'storage_full',
    `The upload cannot be kept on its way through: ${describeFileProblem(error)}. Nothing of it was sent to a provider or left behind. Free space on the disk of Sluice's data folder, then send it again.`,
    { cause: error },
  );
}

function segmentLength(segment: ByteRange | Buffer): number {
  return Buffer.isBuffer(segment) ? segment.length : segment.end - segment.start;
}

/** Bytes of one read; the overhead of a read exceeds the cost of its bytes. */
const pieceBytes = 256 * 1024;

/**
 * Reads ranges of a file, with other bytes in between, through one reused buffer, to save garbage collection.
 *
 * The buffer is reused only if the consumer paused after a chunk and asked for more later, as a pipe into a socket does once
 * the socket has taken everything. Other consumers get a new buffer for each chunk.
 */
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
