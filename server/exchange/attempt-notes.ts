import { awakeMs } from '../awake-clock.ts';
import type { AttemptRecord, FailureClass } from '../contract/ledger.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import { redactText } from './redact-credential.ts';

const maxNotedLength = 500;

/** What is noted of an attempt from its sending to its end: its times, and why it failed. Never the credential. */
export class AttemptNotes {
  readonly #record: AttemptRecord;
  readonly #credential: UpstreamCredential | null;
  readonly #startedMs = awakeMs();
  /** Since the attempt began. */
  lastPieceMs = 0;
  #longestGapMs = 0;

  /** `credential`: what the attempt was sent with. */
  constructor(record: AttemptRecord, credential: UpstreamCredential | null) {
    this.#record = record;
    this.#credential = credential;
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

  /** `failure` is null where it is nobody's fault. */
  failed(failure: FailureClass | null, why?: string): void {
    this.#record.failure = failure;
    if (why !== undefined) this.#record.error = this.redacted(why).slice(0, maxNotedLength);
  }

  over(): void {
    this.#record.totalMs = this.elapsedMs();
    if (this.#record.firstContentMs !== null) this.#record.longestGapMs = this.#longestGapMs;
  }

  /** For what an upstream says, which may repeat what it was sent. */
  redacted(text: string): string {
    return redactText(text, this.#credential);
  }

  elapsedMs(): number {
    return awakeMs() - this.#startedMs;
  }
}
