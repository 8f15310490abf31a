import { AwakeTimer, after } from '../../ground/timers.ts';
import type { AttemptTimeouts } from '../../routing/snapshot.ts';
import { TransportError } from '../../transport/transport-error.ts';
import type { ResponseReader } from '../readers/response-reader.ts';
import type { AttemptNotes } from '../record/exchange-trace.ts';

interface TimersOptions {
  timeouts: AttemptTimeouts;
  /** Whether the client has stopped reading, so that no progress is possible. */
  client: { readonly isBlocked: boolean };
}

interface TimedAttempt {
  /** The awaited bytes did not arrive in time. */
  late(error: TransportError): void;
  /** The response is complete, but the upstream keeps the connection open. */
  finished(): void;
  /** The client has left a finished answer whose usage did not arrive in time. */
  uncounted(): void;
}

/** The timeouts of one attempt after its request was sent: first content, further progress, and the end. */
export class AttemptTimers {
  readonly #options: TimersOptions;
  readonly #notes: AttemptNotes;
  readonly #attempt: TimedAttempt;
  #content: AwakeTimer | undefined;
  #error: AwakeTimer | undefined;
  #progress: ProgressWatch | undefined;
  #drain: NodeJS.Timeout | undefined;
  #end: AwakeTimer | undefined;
  /** Only the usage is awaited. */
  #isAbandoned = false;
  /** Silence after which the response counts as ended; 0: it is not complete yet. */
  #lingersMs = 0;

  constructor(options: TimersOptions, notes: AttemptNotes, attempt: TimedAttempt) {
    this.#options = options;
    this.#notes = notes;
    this.#attempt = attempt;
  }

  get isAwaitingContent(): boolean {
    return this.#content !== undefined;
  }

  awaitContent(): void {
    const { firstContentMs } = this.#options.timeouts;
    this.#content?.clear();
    this.#content = this.#expireAfter(firstContentMs, `no content within ${firstContentMs} ms`);
  }

  /** The content has arrived, or none is expected. */
  stopAwaitingContent(): void {
    this.#content?.clear();
    this.#content = undefined;
  }

  /** The status already marks the attempt as failed, so the wait for the error body is short. */
  awaitError(): void {
    this.#error = this.#expireAfter(errorMs, `no end of its error within ${errorMs} ms`);
  }

  /** Useful bytes arrived `atMs` after the attempt began. */
  progressed(atMs: number): void {
    this.#progress ??= this.#watchProgress();
    this.#progress.lastMs = atMs;
  }

  drainFor(drainMs: number, onOver: () => void): void {
    this.#drain = after(onOver, drainMs);
  }

  /** The model has finished, and the client has left. */
  awaitUsage(): void {
    this.#isAbandoned = true;
    this.#end?.clear();
    this.#lingersMs = 0;
    this.drainFor(patientMs, () => this.#attempt.uncounted());
  }

  /**
   * Called for each chunk sent to the client. Ends the response if the upstream keeps the connection open after the last
   * chunk.
   */
  expectEnd(reader: ResponseReader, chunk: Buffer): void {
    const lingersMs = lingering(reader);
    if (this.#isAbandoned && lingersMs === patientMs) return;
    // While more may follow, the timer measures silence; comments do not reset it.
    if (lingersMs === this.#lingersMs && (lingersMs !== patientMs || isComment(chunk))) return;
    this.#end?.clear();
    this.#lingersMs = lingersMs;
    if (lingersMs > 0) this.#end = new AwakeTimer(() => this.#attempt.finished(), lingersMs);
  }

  stop(): void {
    this.#content?.clear();
    this.#error?.clear();
    this.#progress?.clear();
    clearTimeout(this.#drain);
    this.#end?.clear();
  }

  #expireAfter(limitMs: number, otherwise: string): AwakeTimer {
    return new AwakeTimer(() => this.#attempt.late(new TransportError('timeout', 'body', otherwise)), limitMs);
  }

  /** While there are only signs of life, the limit is the larger of the first-content and the silence timeout. */
  #watchProgress(): ProgressWatch {
    const { client, timeouts } = this.#options;
    const limitMs = timeouts.progressMs;
    return new ProgressWatch({
      limitMs,
      nowMs: () => this.#notes.elapsedMs(),
      isBlocked: () => client.isBlocked,
      expired: () => this.#attempt.late(new TransportError('timeout', 'body', `no useful data within ${limitMs} ms`)),
    });
  }
}

const errorMs = 5_000;
const lingerMs = 1_000;
/** After the model has finished, for its usage, content-filter results and `[DONE]`. */
const patientMs = 5_000;

function lingering(reader: ResponseReader): number {
  if (!reader.isComplete?.()) return 0;
  return reader.mayContinue?.() ? patientMs : lingerMs;
}

const isComment = (chunk: Buffer) => chunk[0] === 0x3a;

/** The progress watch's view of its attempt. Times are in milliseconds on a clock that stops during sleep. */
interface Watched {
  limitMs: number;
  nowMs(): number;
  /** The client has stopped reading, so that no progress is possible. */
  isBlocked(): boolean;
  expired(): void;
}

/**
 * Expires if no useful bytes arrive within the limit. Comments, empty events or single bytes keep a connection from being
 * silent, but are no progress. Each arrival only stores the time and starts no timer.
 */
class ProgressWatch {
  /** Time of the latest progress. */
  lastMs: number;
  readonly #watched: Watched;
  #timer: AwakeTimer;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.lastMs = watched.nowMs();
    this.#timer = this.#checkIn(watched.limitMs);
  }

  clear(): void {
    this.#timer.clear();
  }

  #checkIn(waitMs: number): AwakeTimer {
    return new AwakeTimer(() => this.#check(), waitMs);
  }

  #check(): void {
    const { limitMs, nowMs, isBlocked, expired } = this.#watched;
    if (isBlocked()) this.lastMs = nowMs();
    const dueMs = this.lastMs + limitMs - nowMs();
    if (dueMs < 1) expired();
    else this.#timer = this.#checkIn(dueMs);
  }
}
