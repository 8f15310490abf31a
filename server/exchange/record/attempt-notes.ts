import type { AttemptRecord, FailureClass } from '../../contract/ledger.ts';
import { awakeMs } from '../../ground/awake-clock.ts';
import { notedText } from '../redact/redact-credential.ts';

const maxNotedLength = 500;

/** Records an attempt from sending to end: its times and why it failed. Contains no secrets. */
export class AttemptNotes {
  readonly #record: AttemptRecord;
  readonly #secrets: readonly string[];
  readonly #startedMs = awakeMs();
  /** Relative to the attempt's beginning. */
  lastPieceMs = 0;
  #longestGapMs = 0;

  /** `secrets`: those of the client and of the attempt. */
  constructor(record: AttemptRecord, secrets: readonly string[]) {
    this.#record = record;
    this.#secrets = secrets;
  }

  sending(): void {
    this.#record.connectMs = this.elapsedMs();
  }

  answered(status: number, requestId: unknown): void {
    this.#record.status = status;
    this.#record.firstByteMs = this.elapsedMs();
    this.#record.upstreamRequestId = typeof requestId === 'string' ? this.redacted(requestId) : null;
    this.lastPieceMs = this.#record.firstByteMs;
  }

  pieceCame(): void {
    const nowMs = this.elapsedMs();
    this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - this.lastPieceMs);
    this.lastPieceMs = nowMs;
  }

  contentCame(): void {
    this.#record.firstContentMs ??= this.elapsedMs();
  }

  eventDropped(): void {
    this.#record.droppedEvents++;
  }

  /** The upstream answered with an error. `words`: its message; may be empty. */
  errorReceived(errorText: string): void {
    const status = `status ${this.#record.status}`;
    this.#record.error = notedText(
      errorText === '' ? status : `${status}: ${errorText}`,
      this.#secrets,
      maxNotedLength,
    );
  }

  /** `failure` is null if neither side is at fault. Without `reason`, the words of the upstream's error stay in the record. */
  failed(failure: FailureClass | null, reason?: string): void {
    this.#record.failure = failure;
    if (reason !== undefined) this.#record.error = notedText(reason, this.#secrets, maxNotedLength);
  }

  over(): void {
    this.#record.totalMs = this.elapsedMs();
    if (this.#record.firstContentMs !== null) this.#record.longestGapMs = this.#longestGapMs;
  }

  /** A short text of the upstream, which may echo the request, without secrets. */
  redacted(text: string): string {
    return notedText(text, this.#secrets, maxNotedLength);
  }

  elapsedMs(): number {
    return awakeMs() - this.#startedMs;
  }
}
