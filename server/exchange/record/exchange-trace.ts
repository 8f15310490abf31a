/** Collects what is recorded of a request while it runs, and turns it into one request record. */

import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Route } from '../../apis/core/api.ts';
import { wholeNumberOf } from '../../apis/core/usage/reported-usage.ts';
import type { KeptAnswer, UsageFormat } from '../../apis/core/wire.ts';
import { type Loss, noteLosses } from '../../apis/neutral/losses.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { CaptureCause } from '../../contract/capture.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type {
  AttemptCause,
  AttemptRecord,
  CacheNote,
  CassetteNote,
  FailureClass,
  RequestOutcome,
  RequestRecord,
  RequestSession,
  RequestStarted,
} from '../../contract/ledger.ts';
import type { LossNote } from '../../contract/loss-codes.ts';
import type { Labelled } from '../../ground/event-loop-monitor.ts';
import { awakeMs } from '../../ground/timers.ts';
import type { RequestTracing, TraceHeaders } from '../../observability/request-tracing.ts';
import type { CompiledKey, Target } from '../../routing/snapshot.ts';
import type { Job } from '../../store/ports/kept-stores.ts';
import type { OutgoingRequest } from '../../transport/transport.ts';
import { notedText } from '../redact/redact-credential.ts';
import type { Sendable } from '../request/request-body.ts';
import { type Headers, ResponseExcerpt, type UpstreamResponseObserver } from './response-taps.ts';

/** Usage and cost of a request or of a part of it. */
export type Accounting = Pick<AttemptRecord, 'usage' | 'usageCertainty' | 'costUsd'>;

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

/** Random digits for the next ids, because the system call costs the same for one id as for many. */
let digits = '';
let digitsUsed = 0;
const digitsPerId = 20;
const idsAtOnce = 256;
/** The time prefix of ids of the latest millisecond, because formatting it takes as long as everything else. */
let idsBegin = '';
let idsBeginMs = 0;

/**
 * `req_` and 32 hexadecimal digits: 12 of the time in Unix milliseconds, by which the ledger finds the request's row, then 20
 * random ones.
 */
export function createRequestId(): string {
  if (digitsUsed === digits.length) {
    digits = randomBytes((idsAtOnce * digitsPerId) / 2).toString('hex');
    digitsUsed = 0;
  }
  const nowMs = Date.now();
  if (nowMs !== idsBeginMs) {
    idsBegin = `req_${nowMs.toString(16).padStart(12, '0')}`;
    idsBeginMs = nowMs;
  }
  const from = digitsUsed;
  digitsUsed += digitsPerId;
  return idsBegin + digits.slice(from, digitsUsed);
}

/** Maximum recorded length; clients can send names of any length. */
const maxModelLength = 256;
const maxClientLength = 200;
const maxTitleLength = 60;
const maxPathLength = 200;
const maxFieldLength = 120;

const noLosses: readonly LossNote[] = [];

/** Of Sluice itself. */
interface OwnAnswer {
  status: number;
  body: Buffer;
}

/** How a request ended for its client. */
export interface ResponseSummary {
  outcome: RequestOutcome;
  /** The status sent to the client; null if it left before. */
  status: number | null;
  /** The error code that the client received; null for Sluice's own name of the error. */
  errorCode: string | null;
  bytesOut: number;
  /** Content type. */
  responseType: string;
}

/** The session of one request. It may be set later, by the next request of the same conversation. */
export interface SessionMark {
  readonly requestId: string;
  readonly startedAt: number;
  session: RequestSession | null;
  /** The request has been recorded, so a session assigned later has to be reported. */
  hasEnded: boolean;
}

/** Observes an attempt as it is sent and answered. */
interface AttemptTap {
  sending(request: OutgoingRequest, sendable: Sendable): void;
  readonly response: {
    /** `isDecoded`: the chunks will be uncompressed, whatever the headers say. */
    begin(status: number, headers: Headers, isDecoded?: boolean): void;
    take(chunk: Buffer): void;
    end(): void;
  };
}

/** Notes which objects an attempt makes at its provider, so that later requests find them. */
export interface MadeObjects {
  /** Watches the response for them; null if the route makes none. */
  observer(): UpstreamResponseObserver | null;
  /** The answer was cut before the client got anything of it. */
  cut(answer: KeptAnswer): void;
  /** The object that the client knows by this id was completed at another provider, which calls it `upstreamId`. */
  completed(id: string, upstreamId: string): void;
}

/** One attempt while it runs, with the data from which its usage is read. */
export interface AttemptTrace {
  record: AttemptRecord;
  /** Part of the response has reached the client. */
  hasBegun: boolean;
  /** How the response reports usage, if its API is not the client's; else null. */
  usage: UsageFormat | null;
  /** The prompt of those parts of the request that were answered before the last one; 0 if it was not sent in parts. */
  earlierPromptTokens: number;
  /** Has what the request lost on its way to the upstream; null if bytes are forwarded unchanged. */
  lossesFrom: { readonly losses: readonly Loss[] } | null;
  /** The first and last bytes of its response. */
  excerpt: ResponseExcerpt;
  /** Content type of its response. */
  responseType: string;
  /** The model has finished a streamed answer, so that reported usage is all of it. */
  hasFinished: boolean;
  /** The upstream ended its response by itself, with the answer or an error. */
  hasEnded: boolean;
  /** The `status` of a response object; null if it has none. */
  responseStatus: string | null;
  /** Null if nothing observes it. */
  tap: AttemptTap | null;
  /** Null if nobody asks. */
  made: MadeObjects | null;
  /** Propagates the attempt's span to the upstream; null if there is none. */
  traceHeaders: TraceHeaders | null;
}

export class RequestTrace implements Labelled {
  readonly id = createRequestId();
  readonly startedAt = Date.now();
  readonly attempts: AttemptTrace[] = [];
  /** Spans of the request; null if tracing is off. */
  tracing: RequestTracing | null = null;
  /** The attempt whose response the client received, in part or in full; otherwise the latest one. */
  answering: AttemptTrace | undefined;
  key: CompiledKey | null = null;
  /** Why headers and bodies are captured; null if they are not. */
  captured: CaptureCause | null = null;
  /** The names of the injected faults, as a list; null if there are none. */
  fault: string | null = null;
  /** Whether a cassette recorded or answered the request; null: neither. */
  cassette: CassetteNote | null = null;
  /** As in the route table: `/v1/videos/{id}/content`; the path as called if no route matches. */
  path = '';
  route: Route | null = null;
  model: string | null = null;
  stream = false;
  /** Null before the request is planned. */
  session: SessionMark | null = null;
  bytesIn = 0;
  /** The job that the request is about, that it created, or that was deleted before it reported its usage. */
  job: Job | null = null;
  createdJob: Job | null = null;
  deletedJob: Job | null = null;
  /** Null if the response cache did not apply. */
  cached: CacheNote | null = null;
  /** The upstream model whose answer came from the cache. */
  cachedModel: string | null = null;
  response: ResponseSummary = { outcome: 'error', status: null, errorCode: null, bytesOut: 0, responseType: '' };
  /** The keys that the client sent, valid or not. */
  readonly presentedKeys: readonly string[];
  /** Those, and the providers' credentials: redacted from everything recorded, and never forwarded from what the client wrote. */
  readonly secrets: readonly string[];
  labelNumber = 0;
  readonly #method: string;
  readonly #startedMs = awakeMs();
  #queueMs: number | null = null;
  #latestModel: { model: string | null; noted: string | null } = { model: null, noted: null };

  /** `credentials`: of the providers. */
  constructor(method: string, presentedKeys: readonly string[], credentials: readonly string[] = []) {
    this.#method = method;
    this.presentedKeys = presentedKeys;
    this.secrets = credentials.length === 0 ? presentedKeys : [...presentedKeys, ...credentials];
  }

  take({ route, label, passthrough }: RouteMatch): void {
    this.route = route;
    this.path = passthrough ? notedText(label, this.secrets, maxPathLength) : label;
  }

  /** Records the path of a request that was refused before routing, or that matches no route. */
  unserved(path: string): void {
    this.path = notedText(path, this.secrets, maxPathLength);
  }

  /** Identifies the request to the event loop watch; read when key and route are known. */
  get workLabel(): string {
    return `${this.id}\n${this.key?.id ?? ''}\n${this.#method} ${this.path}`;
  }

  get started(): RequestStarted {
    return {
      id: this.id,
      startedAt: this.startedAt,
      keyId: this.key?.id ?? null,
      groupId: this.key?.groupId ?? null,
      route: this.path,
      method: this.#method,
      capability: this.route?.wire.operation ?? null,
      modelAsked: this.#notedModel(this.model),
      stream: this.stream,
      session: this.session?.session ?? null,
      shadowOf: null,
    };
  }

  /** Records a new attempt; the time before the first one is queue time. */
  attempt(target: Target, credentialId: string | null, cause: AttemptCause): AttemptTrace {
    this.#queueMs ??= awakeMs() - this.#startedMs;
    const record: AttemptRecord = {
      cause,
      provider: target.provider.id,
      credential: credentialId,
      model: this.#notedModel(target.model),
      startedAt: Date.now(),
      connectMs: null,
      firstByteMs: null,
      firstContentMs: null,
      longestGapMs: null,
      totalMs: null,
      status: null,
      failure: null,
      error: null,
      droppedEvents: 0,
      upstreamRequestId: null,
      usage: null,
      usageCertainty: 'none',
      costUsd: null,
    };
    const attempt: AttemptTrace = {
      record,
      hasBegun: false,
      usage: null,
      earlierPromptTokens: 0,
      lossesFrom: null,
      excerpt: new ResponseExcerpt(),
      responseType: '',
      hasFinished: false,
      hasEnded: false,
      responseStatus: null,
      tap: null,
      made: null,
      traceHeaders: this.tracing === null ? null : this.tracing.attempt(record),
    };
    this.attempts.push(attempt);
    // Another attempt may have to continue an answer that broke off, and fail.
    if (!this.answering?.hasBegun) this.answering = attempt;
    return attempt;
  }

  /** With an answer of Sluice's own. */
  answered({ status, body }: OwnAnswer): void {
    this.response = { ...this.response, outcome: 'ok', status, bytesOut: this.#bytesOf(body) };
  }

  /** `status`: the one that the client received. `answer`: null if another one had begun. */
  refused(error: GatewayError, status: number, answer: OwnAnswer | null): void {
    const { code } = error.kind;
    const bytesOut = answer ? this.#bytesOf(answer.body) : this.response.bytesOut;
    this.response = { ...this.response, outcome: 'error', status, errorCode: code ?? error.code, bytesOut };
  }

  /** To a request with `HEAD` no body is sent. */
  #bytesOf(body: Buffer): number {
    return this.#method === 'HEAD' ? 0 : body.length;
  }

  record(request: IncomingMessage, { usage, usageCertainty, costUsd }: Accounting): RequestRecord {
    const last = this.answering?.record;
    const totalMs = awakeMs() - this.#startedMs;
    const { headers } = request;
    const { outcome, status, errorCode, bytesOut } = this.response;
    return {
      ...this.started,
      outcome,
      status,
      errorCode,
      modelServed: last?.model ?? this.cachedModel,
      provider: last?.provider ?? null,
      credential: last?.credential ?? null,
      queueMs: this.#queueMs,
      connectMs: last?.connectMs ?? null,
      firstByteMs: this.#firstByteMs(totalMs),
      totalMs,
      bytesIn: this.bytesIn,
      bytesOut,
      attempts: this.attempts.map(({ record }) => record),
      usage,
      usageCertainty,
      costUsd,
      client: this.#notedClient(headers),
      clientRetries: wholeNumberOf(headers['x-stainless-retry-count']) ?? 0,
      dropped: this.#notedLosses('dropped'),
      emulated: this.#notedLosses('emulated'),
      captured: this.captured,
      cached: this.cached,
      fault: this.fault,
      cassette: this.cassette,
      sameAnswer: null,
    };
  }

  /** Failed attempts before count: the client waited for them too. */
  #firstByteMs(totalMs: number): number | null {
    const record = (this.attempts.find(({ hasBegun }) => hasBegun) ?? this.answering)?.record;
    if (!record || record.firstByteMs === null) return null;
    const beforeMs = record.startedAt - this.startedAt;
    // The wall clock of `startedAt` can be adjusted, and advances while the machine sleeps.
    return Math.min(Math.max(beforeMs, 0) + record.firstByteMs, totalMs);
  }

  /** Programs that use another vendor's SDK name themselves in `X-Title`, a convention of OpenRouter. */
  #notedClient({ 'user-agent': agent, 'x-title': title }: IncomingHttpHeaders): string | null {
    const notedAgent = this.#noted(agent, maxClientLength);
    if (typeof title !== 'string' || title === '') return notedAgent;
    const notedTitle = `[${notedText(title, this.secrets, maxTitleLength)}]`;
    return notedAgent === null ? notedTitle : `${notedAgent} ${notedTitle}`;
  }

  /** Clients choose the names of unknown fields, so these may contain anything. */
  #notedLosses(fate: 'dropped' | 'emulated'): readonly LossNote[] {
    const lossesFrom = this.answering?.lossesFrom;
    if (!lossesFrom) return noLosses;
    return noteLosses(lossesFrom.losses, fate).map((note) => ({
      ...note,
      field: notedText(note.field, this.secrets, maxFieldLength),
    }));
  }

  /** Redacts the model name once, since it appears in several places of the record. */
  #notedModel(model: string | null): string | null {
    if (this.#latestModel.model !== model) this.#latestModel = { model, noted: this.#noted(model, maxModelLength) };
    return this.#latestModel.noted;
  }

  #noted(text: string | null | undefined, maxLength: number): string | null {
    return text ? notedText(text, this.secrets, maxLength) : null;
  }
}
