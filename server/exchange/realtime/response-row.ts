/** Tracks one running response of a realtime session and produces its ledger row. */
import type { IncomingMessage } from 'node:http';
import type { Route } from '../../apis/core/route.ts';
import type { FailureClass, RequestRecord, RequestStarted, Reserved, Usage } from '../../contract/ledger.ts';
import type { CompiledKey, Target } from '../../routing/snapshot.ts';
import type { Accounting } from '../../usage/add-up.ts';
import { AttemptNotes } from '../record/attempt-notes.ts';
import { type AttemptTrace, RequestTrace } from '../record/exchange-trace.ts';

/** Data shared by all rows of a session. */
export interface RowOwner {
  /** The client's handshake. */
  request: IncomingMessage;
  /** Secrets of the client and of the upstream credential, to be redacted. */
  secrets: readonly string[];
  key: CompiledKey;
  route: Route;
  target: Target;
  credentialId: string | null;
  /** The client's name for the model; null if it named none. */
  model: string | null;
}

/** How a response ended. */
interface RowEnd {
  failure: FailureClass | null;
  errorCode: string | null;
  /** Message for a person. */
  error: string | null;
  accounting: Accounting;
}

export class ResponseRow {
  /** The usage to record if the upstream reports none; null if it may stay unknown. */
  fallback: Reserved | null = null;
  /** About how much of it has come. */
  answeredTokens = 0;
  readonly #owner: RowOwner;
  readonly #trace: RequestTrace;
  readonly #attempt: AttemptTrace;
  readonly #notes: AttemptNotes;

  /** `part`: the kind of row, shown after the route. */
  constructor(owner: RowOwner, part: 'response' | 'transcription', target: Target = owner.target) {
    this.#owner = owner;
    // Recorded as POST, because the response is billable; the handshake's own row is a GET.
    this.#trace = new RequestTrace('POST', owner.secrets);
    this.#trace.key = owner.key;
    this.#trace.route = owner.route;
    this.#trace.path = `/v1${owner.route.path}#${part}`;
    this.#trace.model = part === 'response' ? owner.model : target.model;
    this.#trace.stream = true;
    this.#attempt = this.#trace.attempt(target, owner.credentialId, 'first');
    this.#notes = new AttemptNotes(this.#attempt.record, owner.secrets);
    this.#notes.sending();
  }

  get id(): string {
    return this.#trace.id;
  }

  get started(): RequestStarted {
    return this.#trace.started;
  }

  /** Call when the upstream begins the response. */
  begun(): void {
    this.#notes.answered(200, undefined);
  }

  end({ failure, errorCode, error, accounting }: RowEnd): RequestRecord {
    if (failure !== null) this.#notes.failed(failure, error ?? undefined);
    this.#notes.over();
    Object.assign(this.#attempt.record, accounting);
    const outcome = failure === null ? 'ok' : failure === 'client-gone' ? 'client-gone' : 'error';
    const { status } = this.#attempt.record;
    this.#trace.response = { ...this.#trace.response, outcome, status, errorCode };
    return this.#trace.record(this.#owner.request, accounting);
  }
}

/** Accounting for usage that the upstream reported. */
export function accountingOf(usage: Usage, costUsd: number | null): Accounting {
  return { usage, usageCertainty: 'reported', costUsd };
}
