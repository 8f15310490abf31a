import { AwakeTimer } from '../awake-clock.ts';
import type { AttemptTimeouts } from '../routing/compile-timeouts.ts';
import { TransportError } from '../transport/transport-error.ts';
import { ProgressWatch } from './progress-watch.ts';
import type { ResponseReader } from './readers/response-reader.ts';

interface TimersOptions {
  timeouts: AttemptTimeouts;
  attempt: TimedAttempt;
  /** Of the attempt: milliseconds since it began, without those asleep. */
  notes: { elapsedMs(): number };
  /** Whether the client does not read, so that nothing can come. */
  client: { readonly isHeldUp: boolean };
}

interface TimedAttempt {
  /** What was waited for did not come in time. */
  late(error: TransportError): void;
  /** All was said, and the upstream keeps the connection open. */
  finished(): void;
}

/** What one attempt waits for once its request is sent: the first content, then more of it, and the end. */
export class AttemptTimers {
  readonly #options: TimersOptions;
  #content: AwakeTimer | undefined;
  #error: AwakeTimer | undefined;
  #progress: ProgressWatch | undefined;
  #drain: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  /** How long nothing may come before it has ended; 0: it has not said all. */
  #lingersMs = 0;

  constructor(options: TimersOptions) {
    this.#options = options;
  }

  get isAwaitingContent(): boolean {
    return this.#content !== undefined;
  }

  awaitContent(): void {
    const { firstContentMs } = this.#options.timeouts;
    this.#content?.clear();
    this.#content = this.#within(firstContentMs, `no content within ${firstContentMs} ms`);
  }

  /** It came, or none is to be waited for. */
  stopAwaitingContent(): void {
    this.#content?.clear();
    this.#content = undefined;
  }

  /** The status says already that the attempt has failed, so nobody waits long for the reason. */
  awaitError(): void {
    this.#error = this.#within(errorMs, `no end of its error within ${errorMs} ms`);
  }

  /** Something of use came, at `atMs` of the attempt. */
  progressed(atMs: number): void {
    this.#progress ??= this.#watchProgress();
    this.#progress.lastMs = atMs;
  }

  drainFor(drainMs: number, over: () => void): void {
    this.#drain = setTimeout(over, drainMs);
  }

  /** To be told of each piece that is with the client. Some upstreams stay open after the last, and clients would wait. */
  expectEnd(reader: ResponseReader, piece: Buffer): void {
    const lingersMs = lingering(reader);
    // Where more may follow it is a silence that is waited for, and comments do not break it.
    if (lingersMs === this.#lingersMs && (lingersMs !== patientMs || isComment(piece))) return;
    clearTimeout(this.#end);
    this.#lingersMs = lingersMs;
    if (lingersMs > 0) this.#end = setTimeout(() => this.#options.attempt.finished(), lingersMs);
  }

  stop(): void {
    this.#content?.clear();
    this.#error?.clear();
    this.#progress?.clear();
    clearTimeout(this.#drain);
    clearTimeout(this.#end);
  }

  #within(limitMs: number, otherwise: string): AwakeTimer {
    return new AwakeTimer(() => this.#options.attempt.late(new TransportError('timeout', 'body', otherwise)), limitMs);
  }

  /** Signs of life alone keep it for as long as the first content may take, if that is longer than a silence may be. */
  #watchProgress(): ProgressWatch {
    const { client, timeouts, notes, attempt } = this.#options;
    const limitMs = timeouts.progressMs;
    return new ProgressWatch({
      limitMs,
      nowMs: () => notes.elapsedMs(),
      isHeldUp: () => client.isHeldUp,
      expired: () => attempt.late(new TransportError('timeout', 'body', `nothing of use within ${limitMs} ms`)),
    });
  }
}

const errorMs = 5_000;
const lingerMs = 1_000;
/** After a chat's last choice has ended, for its usage, verdicts of filters and `[DONE]`. */
const patientMs = 5_000;

function lingering(reader: ResponseReader): number {
  if (!reader.isComplete?.()) return 0;
  return reader.mayGoOn?.() ? patientMs : lingerMs;
}

const isComment = (piece: Buffer) => piece[0] === 0x3a;
