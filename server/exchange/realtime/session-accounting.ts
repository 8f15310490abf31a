/**
 * Accounts for the usage of a realtime session. Each response is billed with its own prompt, so each one is admitted by
 * the limits when it begins and gets a ledger row when it is done: budgets hold within a session of an hour, and a
 * session that is killed loses the accounting of one response at most. The session's own row has no usage.
 */

import type { IncomingMessage } from 'node:http';
import type { Route } from '../../apis/core/api.ts';
import type { ServerEvent, SessionFormat } from '../../apis/core/wire.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { FailureClass, RequestRecord, RequestStarted, Reserved, Usage } from '../../contract/ledger.ts';
import type { CompiledKey, Member, Target } from '../../routing/snapshot.ts';
import { hasHardDollarBudget, subjectsOf } from '../plan/plan.ts';
import { type Accounting, AttemptNotes, type AttemptTrace, RequestTrace } from '../record/exchange-trace.ts';
import { admitResponse, isPermanent, type LimitPorts } from './plan-session.ts';
import type { MessageWatch, Refusal, RelayEnd } from './session-relay.ts';

interface SessionAccountingPorts extends LimitPorts {
  started(request: RequestStarted, reserved: Reserved | null): void;
  finished(record: RequestRecord, ending: { hasBegun: true }): void;
  reportError(error: unknown): void;
}

type ResponseDone = Extract<ServerEvent, { kind: 'response-done' }>;

/** Limit of running responses. OpenAI runs one response in the conversation and a few out of band. */
const maxRunning = 100;

/** A response has its row from its beginning. */
const hasRow = { hasBegun: true } as const;

const nothingUsed: Accounting = { usage: null, usageCertainty: 'none', costUsd: 0 };
const unknownUse: Accounting = { ...nothingUsed, costUsd: null };

export class SessionAccounting implements MessageWatch {
  readonly #ports: SessionAccountingPorts;
  readonly #format: SessionFormat;
  readonly #owner: RowOwner;
  /** Returns the key and group as currently configured; throws a GatewayError if the key may no longer be used. */
  readonly #member: () => Member;
  /** Running responses by the upstream's id. */
  readonly #running = new Map<string, ResponseRow>();
  /** Requested by the client, but not begun yet. */
  #requested: ResponseRow | null = null;
  #transcribesWith: string | null = null;
  /** About how many tokens the next response is given. */
  #conversationTokens = 0;
  /** Of the latest responses that have been booked. */
  readonly #ended = new Set<string>();

  constructor(ports: SessionAccountingPorts, format: SessionFormat, owner: RowOwner, member: () => Member) {
    this.#ports = ports;
    this.#format = format;
    this.#owner = owner;
    this.#member = member;
  }

  /** Checks limits for a client's `response.create`. A refused one is not forwarded; the session may continue. */
  ofClient(message: Buffer): Refusal | null {
    this.#conversationTokens += this.#format.addedTokens(message);
    const create = this.#format.readResponseCreate(message);
    if (create === null || this.#requested) return null;
    try {
      this.#requested = this.#openRow();
      return null;
    } catch (thrown) {
      return { error: this.#errorOf(thrown), eventId: create.eventId || null, isFatal: isPermanent(thrown) };
    }
  }

  ofUpstream(message: Buffer): Refusal | null {
    const event = this.#format.readServerEvent(message);
    switch (event?.kind) {
      case 'response-created':
        return this.#begin(event.id);
      case 'response-done':
        return this.#responseDone(event);
      case 'transcribed':
        this.#transcribed(event.used);
        return this.#afterMessage();
      case 'session':
        this.#transcribesWith = event.transcribesWith;
        return null;
      default:
        this.#count(message);
        return null;
    }
  }

  /** OpenAI runs one response at a time in the conversation, the latest. */
  #count(message: Buffer): void {
    if (this.#running.size === 0) return;
    const tokens = this.#format.answeredTokens(message);
    const latest = tokens > 0 ? [...this.#running.values()].at(-1) : undefined;
    if (latest) latest.answeredTokens += tokens;
  }

  /**
   * Whether the session may no longer continue, by the current configuration: the key, its group's providers, and hard
   * budgets. Null if it may.
   */
  check(): Refusal | null {
    try {
      const member = this.#member();
      this.#checkProvider(member);
      this.#ports.limiter.checkBudgets(subjectsOf(member));
      return null;
    } catch (thrown) {
      return { error: this.#errorOf(thrown), eventId: null, isFatal: true };
    }
  }

  /** A transcript is the only sign of its cost, so it is checked what is left after it. */
  #afterMessage(): Refusal | null {
    const refusal = this.check();
    return refusal && { ...refusal, isAfterMessage: true };
  }

  #checkProvider({ group }: Member): void {
    const { provider } = this.#owner.target;
    if (group.providers.some((allowed) => allowed.provider.id === provider.id)) return;
    const message = `Group "${group.id}" may no longer use provider "${provider.id}", which has this session.`;
    throw new GatewayError('no_healthy_provider', message);
  }

  /** Call when the session ends: responses still running have used an unknown amount. */
  end({ outcome }: RelayEnd): void {
    // A response that was requested but never began costs nothing.
    if (this.#requested) this.#finish(this.#requested, 'client-gone', nothingUsed);
    this.#requested = null;
    const failure = outcome === 'stream-broken' ? 'stream-broken' : 'client-gone';
    for (const row of this.#running.values()) this.#finish(row, failure, this.#fallbackAccounting(row));
    this.#running.clear();
  }

  /** @throws GatewayError if a limit is reached or the key is gone */
  #openRow(): ResponseRow {
    const { route, target, model } = this.#owner;
    const row = new ResponseRow(this.#owner, 'response');
    const member = this.#member();
    const reserved = admitResponse(this.#ports, member, { requestId: row.id, route, target, model });
    if (hasHardDollarBudget(member)) row.fallback = reserved;
    this.#ports.started(row.started, reserved);
    return row;
  }

  /** The upstream also begins responses unasked, when it detects the end of speech; only ending the session stops those. */
  #begin(id: string): Refusal | null {
    try {
      const row = this.#requested ?? this.#openRow();
      this.#requested = null;
      row.begun();
      this.#running.set(id, row);
      if (this.#running.size > maxRunning) this.#forgetOldest();
      return null;
    } catch (thrown) {
      return { error: this.#errorOf(thrown), eventId: null, isFatal: true };
    }
  }

  /** Bounds memory if an upstream begins responses and never ends them. */
  #forgetOldest(): void {
    const [oldest] = this.#running;
    if (!oldest) return;
    const [id, row] = oldest;
    this.#running.delete(id);
    this.#noteEnded(id);
    this.#finish(row, 'client-gone', this.#fallbackAccounting(row));
  }

  /** What is billed is booked, whether its beginning was told or not. */
  #responseDone({ id, hasFailed, errorCode, used }: ResponseDone): Refusal | null {
    const begun = this.#running.get(id);
    if (!begun && (!used || this.#ended.has(id))) return null;
    const row = begun ?? this.#unannounced();
    this.#running.delete(id);
    this.#noteEnded(id);
    if (used) this.#conversationTokens = (used.inputTokens ?? 0) + (used.outputTokens ?? 0);
    const accounting = used ? this.#accountingOf(used, this.#owner.target.model ?? this.#owner.model) : null;
    const unknown = hasFailed ? nothingUsed : this.#fallbackAccounting(row);
    const failure = hasFailed ? 'transient' : null;
    this.#ports.finished(row.end({ failure, errorCode, error: errorCode, accounting: accounting ?? unknown }), hasRow);
    return begun ? null : this.#afterMessage();
  }

  #unannounced(): ResponseRow {
    const row = this.#requested ?? new ResponseRow(this.#owner, 'response');
    this.#requested = null;
    row.begun();
    return row;
  }

  #noteEnded(id: string): void {
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > maxRunning && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** A separate model transcribes the speech, at its own price. */
  #transcribed(used: Usage | null): void {
    const target = { ...this.#owner.target, model: this.#transcribesWith };
    const row = new ResponseRow(this.#owner, 'transcription', target);
    row.begun();
    const accounting = used ? this.#accountingOf(used, this.#transcribesWith) : unknownUse;
    this.#ports.finished(row.end({ failure: null, errorCode: null, error: null, accounting }), hasRow);
  }

  #finish(row: ResponseRow, failure: 'client-gone' | 'stream-broken', accounting: Accounting): void {
    this.#ports.finished(row.end({ failure, errorCode: null, error: null, accounting }), hasRow);
  }

  #accountingOf(usage: Usage, model: string | null): Accounting {
    return accountingOf(usage, this.#costOf(usage, model));
  }

  #costOf(usage: Usage, model: string | null): number | null {
    return model === null ? null : this.#ports.prices.cost(this.#owner.target.provider.id, model, usage);
  }

  #fallbackAccounting({ fallback, answeredTokens }: ResponseRow): Accounting {
    if (fallback) return { ...fallback, usageCertainty: 'reserved' };
    if (answeredTokens === 0 && this.#conversationTokens === 0) return unknownUse;
    const usage = { inputTokens: Math.ceil(this.#conversationTokens), outputTokens: Math.ceil(answeredTokens) };
    const costUsd = this.#costOf(usage, this.#owner.target.model ?? this.#owner.model);
    return { usage, usageCertainty: 'estimated', costUsd };
  }

  #errorOf(thrown: unknown): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    this.#ports.reportError(thrown);
    return new GatewayError('internal', 'Sluice failed to handle this event. Its log says why.', { cause: thrown });
  }
}

/** Data shared by all rows of a session. */
interface RowOwner {
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

/** Tracks one running response of a realtime session and produces its ledger row. */
class ResponseRow {
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
function accountingOf(usage: Usage, costUsd: number | null): Accounting {
  return { usage, usageCertainty: 'reported', costUsd };
}
