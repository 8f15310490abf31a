/** One response of a realtime session while it runs, and its row in the ledger. */
import type { IncomingMessage } from 'node:http';
import type { FailureClass, RequestRecord, RequestStarted, Reserved, Usage } from '../../contract/ledger.ts';
import type { CompiledKey, Target } from '../../routing/snapshot.ts';
import type { Accounting } from '../../usage/add-up.ts';
import type { Route } from '../../wire/route.ts';
import { AttemptNotes } from '../attempt-notes.ts';
import { type AttemptTrace, RequestTrace } from '../exchange-trace.ts';

/** What all rows of a session have in common. */
export interface RowOwner {
  /** The client's handshake. */
  request: IncomingMessage;
  presented: readonly string[];
  /** Of the client and of the upstream's credential. */
  secrets: readonly string[];
  key: CompiledKey;
  route: Route;
  target: Target;
  credentialId: string | null;
  /** The client's name for the model; null if it named none. */
  model: string | null;
}

/** How a response ended. */
export interface RowEnd {
  failure: FailureClass | null;
  errorCode: string | null;
  /** For a person. */
  error: string | null;
  accounting: Accounting;
}

export class ResponseRow {
  /** Booked if nobody tells what it used; null if that may stay unknown. */
  standIn: Reserved | null = null;
  readonly #owner: RowOwner;
  readonly #trace: RequestTrace;
  readonly #attempt: AttemptTrace;
  readonly #notes: AttemptNotes;

  /** `part`: what of the session it is, as it is shown behind the route. */
  constructor(owner: RowOwner, part: 'response' | 'transcription', target: Target = owner.target) {
    this.#owner = owner;
    // As a request that may cost something, which the handshake's own row is not.
    this.#trace = new RequestTrace('POST', owner.presented);
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

  /** The upstream has begun. */
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

/** What was used, and what it costs. */
export function accountingOf(usage: Usage, costUsd: number | null): Accounting {
  return { usage, usageCertainty: 'reported', costUsd };
}
