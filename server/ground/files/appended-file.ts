/**
 * A file to which lines are appended in the background. No disk holds up the program: what cannot be written is kept for the
 * next attempt, up to a limit, and the end waits only for a given time.
 */
import { close, openSync, write } from 'node:fs';
import { after } from '../timers.ts';

/** Lines are buffered until they reach this size or are flushed, because each write occupies a thread of the pool. */
const bufferLength = 64 * 1024;
/** Kept while writing fails; beyond this, new lines are lost. */
const maxPendingLength = 16 * 1024 * 1024;

export class AppendedFile {
  /** Null once it is closed: the system gives its number to the next file that is opened. */
  #descriptor: number | null;
  /** What is being written. */
  #rest: Buffer | null = null;
  #pending = '';
  #lostLines = 0;
  #isEnding = false;
  #isFinished = false;
  /** Resolves once nothing more is written, or for `finish` is waited no longer. */
  readonly #settled = Promise.withResolvers<void>();

  /** Throws the system's error if the file cannot be opened. Only this user may read a new one. */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'a', 0o600);
  }

  /** After the end, lines are lost. */
  write(lines: string): void {
    if (this.#descriptor === null || this.#pending.length + lines.length > maxPendingLength) {
      this.#lostLines += countLines(lines);
      return;
    }
    this.#pending += lines;
    if (this.#pending.length >= bufferLength) this.flush();
  }

  /** Begins to write what is pending. */
  flush(): void {
    if (this.#rest === null && this.#pending !== '') this.#next();
  }

  /** Writes what is pending, and then closes the file. A second call does nothing. */
  end(): void {
    this.#isEnding = true;
    if (this.#rest === null) this.#next();
  }

  /** Like `end`. Resolves when that is done or cannot be done, and after `limitMs` in any case. */
  async finish(limitMs: number): Promise<void> {
    this.end();
    const timer = after(this.#settled.resolve, limitMs);
    await this.#settled.promise;
    clearTimeout(timer);
    this.#isFinished = true;
  }

  /** How many lines were lost or are not written yet. */
  get unwrittenLines(): number {
    return this.#lostLines + countLines(this.#rest?.toString() ?? '') + countLines(this.#pending);
  }

  /** After `finish`: a write has neither succeeded nor failed. */
  get isStuck(): boolean {
    return this.#isFinished && this.#rest !== null;
  }

  #next(): void {
    const descriptor = this.#descriptor;
    if (descriptor === null || this.#pending === '') {
      this.#stop();
      return;
    }
    const rest = Buffer.from(this.#pending);
    this.#pending = '';
    this.#writeRest(descriptor, rest);
  }

  #writeRest(descriptor: number, rest: Buffer): void {
    this.#rest = rest;
    write(descriptor, rest, (error, written) => {
      if (error) this.#failed(rest);
      else if (written < rest.length) this.#writeRest(descriptor, rest.subarray(written));
      else this.#written();
    });
  }

  #written(): void {
    this.#rest = null;
    if (this.#isEnding || this.#pending.length >= bufferLength) this.#next();
  }

  #failed(rest: Buffer): void {
    this.#rest = null;
    this.#pending = rest.toString() + this.#pending;
    if (this.#isEnding) this.#stop();
  }

  #stop(): void {
    if (this.#isEnding && this.#descriptor !== null) {
      close(this.#descriptor, () => {});
      this.#descriptor = null;
    }
    this.#settled.resolve();
  }
}

function countLines(text: string): number {
  let lines = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines++;
  return lines;
}
