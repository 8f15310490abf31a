/**
 * Keeps the bytes of one upload so that they can be sent upstream again and again: small ones in memory, larger ones in
 * one temp file that only this user can read. Owns that file's whole life; knows nothing of multipart.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ByteRange } from './json-peek.ts';

/** A body ready to be sent; `open` may be called once per attempt. A Readable that is not wanted must be destroyed. */
export interface OutgoingBody {
  length: number;
  open(): Buffer | Readable;
}

export interface SpoolOptions {
  /** Where the temp file goes; must exist (`prepareSpoolFolder`). */
  folder: string;
  /** How much stays in memory before the file is made. */
  memoryBytes?: number;
}

const DEFAULT_MEMORY_BYTES = 256 * 1024;
/** What one turn at the disk reads or writes: a turn costs more than the bytes. */
const DISK_BYTES = 256 * 1024;
const FILE_SUFFIX = '.upload';

/** What is alive right now in this process; both return to zero when no upload is under way. */
export const spoolCounts = { spools: 0, files: 0 };

/** Makes the folder (0700) and removes what a crash left in it. Once at start, before the first upload. */
export async function prepareSpoolFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const leftovers = (await readdir(folder)).filter((name) => name.endsWith(FILE_SUFFIX));
  await Promise.all(leftovers.map((name) => rm(path.join(folder, name), { force: true })));
}

export class Spool {
  readonly #path: string;
  readonly #memoryBytes: number;
  readonly #readers = new Set<Readable>();
  #chunks: Buffer[] = [];
  #file: FileHandle | undefined;
  #isInFile = false;
  #size = 0;
  /** Bytes on their way into the file: one buffer for the whole upload, so that its chunks die young. */
  #staging: Buffer | undefined;
  #staged = 0;
  #writing: Promise<void> = Promise.resolve();
  #disposal: Promise<void> | undefined;

  constructor({ folder, memoryBytes = DEFAULT_MEMORY_BYTES }: SpoolOptions) {
    this.#path = path.join(folder, `${randomUUID()}${FILE_SUFFIX}`);
    this.#memoryBytes = memoryBytes;
    spoolCounts.spools++;
  }

  /** Bytes taken so far. */
  get size(): number {
    return this.#size;
  }

  /** Takes a chunk, which must not change afterwards. One call at a time: the next after `done`. */
  write(chunk: Buffer, done: (error?: Error) => void): void {
    this.#size += chunk.length;
    if (this.#disposal) {
      done(new Error('The upload was given up.'));
    } else if (!this.#isInFile && this.#size <= this.#memoryBytes) {
      this.#chunks.push(chunk);
      done();
    } else if (this.#staging && this.#staged + chunk.length < DISK_BYTES) {
      this.#staged += chunk.copy(this.#staging, this.#staged);
      done();
    } else {
      this.#writing = this.#append(chunk);
      this.#writing.then(() => done(), done);
    }
  }

  /** All bytes are in; from now on they can be read. */
  async finish(): Promise<void> {
    await this.#writing;
    await this.#flush();
    await this.#closeFile();
    if (!this.#isInFile) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  /** The bytes as they came. */
  whole(): OutgoingBody {
    return this.assemble([{ start: 0, end: this.#size }]);
  }

  /** A body made of ranges of the spooled bytes and of other bytes between them. */
  assemble(segments: readonly (ByteRange | Buffer)[]): OutgoingBody {
    const length = segments.reduce((sum, segment) => sum + segmentLength(segment), 0);
    return { length, open: () => (this.#isInFile ? this.#read(segments) : this.#join(segments)) };
  }

  /**
   * Forgets the bytes and removes the file, also while a write or a read is under way. May be called again, and never
   * rejects: a file that cannot be removed now goes at the next start.
   */
  dispose(): Promise<void> {
    this.#disposal ??= this.#remove();
    return this.#disposal;
  }

  async #append(chunk: Buffer): Promise<void> {
    if (!this.#isInFile) {
      this.#isInFile = true;
      spoolCounts.files++;
      this.#file = await open(this.#path, 'wx', 0o600);
      await this.#file.appendFile(Buffer.concat(this.#chunks));
      this.#chunks = [];
      this.#staging = Buffer.allocUnsafe(DISK_BYTES);
    }
    await this.#flush();
    await this.#file?.appendFile(chunk);
  }

  async #flush(): Promise<void> {
    if (this.#staged === 0) return;
    await this.#file?.appendFile(this.#staging?.subarray(0, this.#staged) ?? '');
    this.#staged = 0;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#staging = undefined;
    await file?.close();
  }

  async #remove(): Promise<void> {
    spoolCounts.spools--;
    const readers = [...this.#readers].map((reader) => finished(reader.destroy()));
    await Promise.allSettled(readers);
    await this.#writing.catch(() => undefined); // Told to `done` already.
    this.#chunks = [];
    if (!this.#isInFile) return;
    await this.#closeFile().catch(() => undefined);
    await rm(this.#path, { force: true }).catch(() => undefined);
    spoolCounts.files--;
  }

  #join(segments: readonly (ByteRange | Buffer)[]): Buffer {
    const [bytes = Buffer.alloc(0)] = this.#chunks;
    const [only] = segments;
    if (segments.length === 1 && only && !Buffer.isBuffer(only)) return bytes.subarray(only.start, only.end);
    return Buffer.concat(segments.map((part) => (Buffer.isBuffer(part) ? part : bytes.subarray(part.start, part.end))));
  }

  #read(segments: readonly (ByteRange | Buffer)[]): Readable {
    const reader = Readable.from(readSegments(this.#path, segments), { objectMode: false, highWaterMark: DISK_BYTES });
    this.#readers.add(reader);
    return reader.once('close', () => this.#readers.delete(reader));
  }
}

function segmentLength(segment: ByteRange | Buffer): number {
  return Buffer.isBuffer(segment) ? segment.length : segment.end - segment.start;
}

async function* readSegments(file: string, segments: readonly (ByteRange | Buffer)[]): AsyncGenerator<Buffer> {
  const handle = await open(file, 'r');
  try {
    for (const segment of segments) {
      if (Buffer.isBuffer(segment)) yield segment;
      else yield* readRange(handle, segment);
    }
  } finally {
    await handle.close();
  }
}

async function* readRange(handle: FileHandle, { start, end }: ByteRange): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const wanted = Math.min(DISK_BYTES, end - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
    if (bytesRead === 0) throw new Error('The temp file of an upload is shorter than it was.');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
