import { AwakeTimer } from '../awake-clock.ts';
import type { Timeouts } from '../contract/policy.ts';
import { TransportError } from '../transport/transport-error.ts';
import { ProgressWatch } from './progress-watch.ts';
import type { ReplyBody } from './readers/response-reader.ts';

interface ReplyClockOptions {
  timeouts: Timeouts;
  reply: TimedReply;
  /** Of the attempt: milliseconds since it began, without those asleep. */
  notes: { elapsedMs(): number };
  /** Whether the client does not read, so that nothing can come. */
  client: { readonly isHeldUp: boolean };
}

/** What is told of time to the attempt that it passes for. */
interface TimedReply {
  failTransport(error: TransportError): void;
  /** There are signs of life, but nothing of use any more. */
  stalled(error: TransportError): void;
  /** All was said, and the upstream keeps the connection open. */
  finished(): void;
}

/** What one reply waits for, from the sending of its question on: its content, then more of it, and its end. */
export class ReplyClock {
  readonly #options: ReplyClockOptions;
  #content: AwakeTimer | undefined;
  #progress: ProgressWatch | undefined;
  #drain: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  /** How long nothing may come before it has ended; 0: it has not said all. */
  #lingersMs = 0;

  constructor(options: ReplyClockOptions) {
    this.#options = options;
  }

  get hasAwaitedContent(): boolean {
    return this.#content !== undefined;
  }

  awaitContent(): void {
    const { firstContentMs } = this.#options.timeouts;
    this.#content?.clear();
    this.#content = new AwakeTimer(() => {
      const error = new TransportError('timeout', 'body', `no content within ${firstContentMs} ms`);
      this.#options.reply.failTransport(error);
    }, firstContentMs);
  }

  /** It came, or none is to be waited for. */
  stopAwaitingContent(): void {
    this.#content?.clear();
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
  expectEnd(body: ReplyBody, piece: Buffer): void {
    const lingersMs = lingering(body);
    // Where more may follow it is a silence that is waited for, and comments do not break it.
    if (lingersMs === this.#lingersMs && (lingersMs !== patientMs || isComment(piece))) return;
    clearTimeout(this.#end);
    this.#lingersMs = lingersMs;
    if (lingersMs > 0) this.#end = setTimeout(() => this.#options.reply.finished(), lingersMs);
  }

  stop(): void {
    this.#content?.clear();
    this.#progress?.clear();
    clearTimeout(this.#drain);
    clearTimeout(this.#end);
  }

  /** Signs of life alone keep it for as long as the first content may take, if that is longer than a silence may be. */
  #watchProgress(): ProgressWatch {
    const { client, timeouts, notes, reply } = this.#options;
    const limitMs = Math.max(timeouts.firstContentMs, timeouts.idleMs);
    return new ProgressWatch({
      limitMs,
      nowMs: () => notes.elapsedMs(),
      isHeldUp: () => client.isHeldUp,
      expired: () => reply.stalled(new TransportError('timeout', 'body', `nothing of use within ${limitMs} ms`)),
    });
  }
}

const lingerMs = 1_000;
/** After a chat's last choice has ended, for its usage, verdicts of filters and `[DONE]`. */
const patientMs = 5_000;

function lingering(body: ReplyBody): number {
  if (!body.isComplete()) return 0;
  return body.mayGoOn?.() ? patientMs : lingerMs;
}

const isComment = (piece: Buffer) => piece[0] === 0x3a;
