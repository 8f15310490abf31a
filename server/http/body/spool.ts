/**
 * Keeps the bytes of one upload so that they can be sent upstream again and again: small ones in memory, larger ones in
 * one temp file that only this user can read. Owns that file's whole life; knows nothing of multipart.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { GatewayError } from '../../contract/errors.ts';
import type { Sendable } from '../../exchange/request-body.ts';
import { describeFileProblem, systemErrorCode } from '../../files/file-problem.ts';
import type { ByteRange } from '../../wire/json/json-scan.ts';
import { SpoolReader } from './spool-reader.ts';

export interface SpoolOptions {
  /** Where the temp file goes; must exist. What a crash leaves in it is removed at the next start (`data-folder.ts`). */
  folder: string;
  /** How long the upload says it is. */
  expectedBytes?: number;
  /** How much stays in memory before the file is made, up to 256 kB. */
  memoryBytes?: number;
}

/**
 * What is held in memory: all of a short upload, of a longer one what waits for its turn at the disk. A turn costs more than
 * its bytes.
 */
export const spoolMemoryBytes = 256 * 1024;
const fileSuffix = '.upload';
const nothing = Buffer.alloc(0);

/** What is alive right now in this process; both return to zero when no upload is under way. */
export const spoolCounts = { spools: 0, files: 0 };

export class Spool {
  readonly #path: string;
  readonly #memoryBytes: number;
  readonly #readers = new Set<Readable>();
  /** One buffer for the whole upload, so that nobody has to keep its chunks. */
  #held: Buffer;
  #heldBytes = 0;
  #file: FileHandle | undefined;
  #isInFile = false;
  #size = 0;
  #writing: Promise<void> = Promise.resolve();
  #disposal: Promise<void> | undefined;

  constructor({ folder, expectedBytes = spoolMemoryBytes, memoryBytes = spoolMemoryBytes }: SpoolOptions) {
    this.#path = path.join(folder, `${randomUUID()}${fileSuffix}`);
    this.#memoryBytes = memoryBytes;
    this.#held = Buffer.allocUnsafe(Math.min(Math.max(1, expectedBytes), spoolMemoryBytes));
    spoolCounts.spools++;
  }

  /** Bytes taken so far. */
  get size(): number {
    return this.#size;
  }

  /** Takes a chunk, which is free again after `done`. One call at a time: the next after `done`. */
  write(chunk: Buffer, done: (error?: Error) => void): void {
    this.#size += chunk.length;
    const hasRoom = this.#heldBytes + chunk.length <= this.#held.length;
    const isFileDue = !this.#isInFile && this.#size > this.#memoryBytes;
    if (this.#disposal) {
      done(new Error('The upload was given up.'));
    } else if (hasRoom && !isFileDue) {
      this.#hold(chunk, 0);
      done();
    } else {
      this.#writing = this.#spill(chunk);
      this.#writing.then(
        () => done(),
        (error: unknown) => done(unwritable(error)),
      );
    }
  }

  /** All bytes are in; from now on they can be read. */
  async finish(): Promise<void> {
    if (!this.#isInFile) return;
    try {
      await this.#flush();
      await this.#closeFile();
    } catch (error) {
      throw unwritable(error);
    }
  }

  /** The bytes as they came. */
  whole(): Sendable & { length: number } {
    return this.assemble([{ start: 0, end: this.#size }]);
  }

  /** A body made of ranges of the spooled bytes and of other bytes between them. */
  assemble(segments: readonly (ByteRange | Buffer)[]): Sendable & { length: number } {
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

  /** Takes of the chunk, from the offset `from` on, what there is room for, and returns how much that was. */
  #hold(chunk: Buffer, from: number): number {
    const taken = chunk.copy(this.#held, this.#heldBytes, from);
    this.#heldBytes += taken;
    return taken;
  }

  async #spill(chunk: Buffer): Promise<void> {
    if (!this.#isInFile) {
      this.#isInFile = true;
      spoolCounts.files++;
      this.#file = await open(this.#path, 'wx', 0o600);
    }
    for (let at = this.#hold(chunk, 0); at < chunk.length; at += this.#hold(chunk, at)) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#file?.appendFile(this.#held.subarray(0, this.#heldBytes));
    this.#heldBytes = 0;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#held = nothing;
    await file?.close();
  }

  async #remove(): Promise<void> {
    spoolCounts.spools--;
    const readers = [...this.#readers].map((reader) => finished(reader.destroy()));
    await Promise.allSettled(readers);
    await this.#writing.catch(() => undefined); // Told to `done` already.
    this.#held = nothing;
    if (!this.#isInFile) return;
    await this.#closeFile().catch(() => undefined);
    await rm(this.#path, { force: true }).catch(() => undefined);
    spoolCounts.files--;
  }

  #join(segments: readonly (ByteRange | Buffer)[]): Buffer {
    const bytes = this.#held;
    const [only] = segments;
    if (segments.length === 1 && only && !Buffer.isBuffer(only)) return bytes.subarray(only.start, only.end);
    return Buffer.concat(segments.map((part) => (Buffer.isBuffer(part) ? part : bytes.subarray(part.start, part.end))));
  }

  #read(segments: readonly (ByteRange | Buffer)[]): Readable {
    const reader = new SpoolReader(this.#path, segments);
    this.#readers.add(reader);
    return reader.once('close', () => this.#readers.delete(reader));
  }
}

/** What a disk can come to; anything else is a fault of Sluice. */
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
