/**
 * Reads an upload from its connection chunk by chunk: checks each chunk with the guard, writes it to the spool, and
 * passes everything except the content of files to the parser.
 *
 * Written by hand, because `pipe` and a Transform would cost more than the search itself: here one call handles a
 * chunk.
 */
import type { Readable, Writable } from 'node:stream';
import { GatewayError } from '../../contract/errors.ts';
import type { FormGuard } from './form-guard.ts';
import { releaseChunk } from './release-chunk.ts';
import type { Spool } from './spool.ts';

interface IntakeOptions {
  guard: FormGuard;
  spool: Spool;
  parser: Writable;
  /** Size limit of the whole body. */
  maxBytes: number;
  /** Called with the first fault; no more data is accepted after it. */
  fail(error: unknown): void;
}

export class UploadIntake {
  readonly #source: Readable;
  readonly #options: IntakeOptions;
  #isStopped = false;
  #isComplete = false;
  /** Number of pending operations that must finish before the next chunk is read. */
  #obstacles = 0;
  readonly #clear = () => {
    this.#obstacles--;
    if (this.#obstacles === 0 && !this.#isStopped) this.#source.resume();
  };

  constructor(source: Readable, options: IntakeOptions) {
    this.#source = source;
    this.#options = options;
    source.on('data', this.#onData);
    source.once('end', this.#onEnd);
  }

  /** Whether the whole upload is in the spool. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Stops reading. The rest is left to the caller, to be read or discarded. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#source.off('data', this.#onData);
    this.#source.off('end', this.#onEnd);
    this.#options.parser.destroy();
  }

  readonly #onData = (chunk: Buffer) => {
    const { guard, spool, maxBytes, fail } = this.#options;
    if (spool.size + chunk.length > maxBytes) return fail(uploadTooLarge('The request body', maxBytes));
    let parserChunks: readonly Buffer[];
    try {
      parserChunks = guard.take(chunk);
    } catch (error) {
      return fail(error);
    }
    this.#spoolChunk(chunk, parserChunks.length > 0);
    for (const chunk of parserChunks) this.#parse(chunk);
  };

  /** A slow disk slows the client down instead of filling the memory. */
  #spoolChunk(chunk: Buffer, isShown: boolean): void {
    let isAtOnce = true;
    let isDone = false;
    this.#options.spool.write(chunk, (error) => {
      isDone = true;
      // The parser may keep a part of each chunk that it receives.
      if (!isShown) releaseChunk(chunk);
      if (error) this.#options.fail(error);
      else if (!isAtOnce) this.#clear();
    });
    isAtOnce = false;
    if (!isDone) this.#wait();
  }

  #parse(chunk: Buffer): void {
    const { parser } = this.#options;
    if (this.#isStopped || parser.write(chunk) || parser.writableLength === 0) return;
    this.#wait();
    parser.once('drain', this.#clear);
  }

  #wait(): void {
    this.#obstacles++;
    this.#source.pause();
  }

  readonly #onEnd = () => {
    const { spool, parser, fail } = this.#options;
    spool.finish().then(() => {
      if (this.#isStopped) return;
      this.#isComplete = true;
      parser.end();
    }, fail);
  };
}

export function uploadTooLarge(subject: string, maxBytes: number): GatewayError {
  return new GatewayError('too_large', `${subject} is larger than the limit of ${maxBytes} bytes.`);
}
