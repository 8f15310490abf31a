/** The response cache of a group: from the look-up for a request until the request's own answer is stored. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { addsToConversation, sessionHeaders } from '../../apis/core/requests/client-session.ts';
import { runsNothingAtProvider } from '../../apis/core/requests/tool-runners.ts';
import { framingOf } from '../../apis/core/sse-framing.ts';
import { parseObject } from '../../apis/json/parse-object.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { AnswerCache, CachedAnswer, Flight, GroupCache } from '../../cache/answer-cache.ts';
import type { CacheSettings } from '../../contract/answer-cache.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type { CacheNote } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { reportFailure } from '../answer/attempt-failures.ts';
import { type ClientResponse, createClientResponse, isEventStream } from '../answer/client-response.ts';
import { sendStored } from '../answer/local-reply.ts';
import type { AdmittedRequest, Answerer, Companion, Ending, PlannedCall, Visit } from '../course/companion.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import { type ClientResponseTap, type Headers, joinTaps } from '../record/response-taps.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody } from '../request/request-body.ts';

export class CacheCompanion implements Companion {
  readonly #cache: AnswerCache;

  constructor(cache: AnswerCache) {
    this.#cache = cache;
  }

  admitted(admitted: AdmittedRequest): Visit | null {
    const { match, member } = admitted;
    const { cache: settings, id } = member.group;
    if (match === null || settings === null) return null;
    return new CacheVisit(this.#cache.of(id), settings, admitted);
  }
}

/** How the cache applies to a request. */
interface LookUp {
  use: Exclude<CacheUse, 'none'>;
  key: string;
  /** Of the cache's content, which may be cleared while a provider answers. */
  generation: number;
}

class CacheVisit implements Visit, Answerer {
  readonly #cache: GroupCache;
  readonly #settings: CacheSettings;
  readonly #admitted: AdmittedRequest;
  /** Aborted when the client leaves. */
  readonly #gone = new AbortController();
  /** Null if the cache does not apply to the request. */
  #lookUp: LookUp | null = null;
  #recorder: CacheRecorder | null = null;
  #flight: Flight | null = null;
  #client: ClientResponse | null = null;
  /** Why Sluice itself has ended the response. */
  #cutOff: GatewayError | null = null;

  constructor(cache: GroupCache, settings: CacheSettings, admitted: AdmittedRequest) {
    this.#cache = cache;
    this.#settings = settings;
    this.#admitted = admitted;
  }

  planned(planned: PlannedCall): MaybePromise<boolean> {
    const { plan, call } = planned;
    const { headers } = this.#admitted.request;
    const use = cacheUseOf(call, headers, this.#settings);
    if (use === 'none') return false;
    const key = requestKey(plan, call, headers['x-sluice-lossy']);
    const lookUp = { use, key, generation: this.#cache.generation };
    this.#lookUp = lookUp;
    planned.answeredBy(this);
    return this.#answer(lookUp, call);
  }

  /** False if the request has to be sent to a provider. */
  async #answer(lookUp: LookUp, call: OutgoingCall): Promise<boolean> {
    const { response, snapshot, trace, taps, outlet } = this.#admitted;
    const { settings } = snapshot;
    const client = createClientResponse({ response, settings, trace, tap: joinTaps(taps), outlet }, call);
    this.#client = client;
    const { stream } = call.match.route;
    if (call.body.fields.stream && stream) client.keepAlive(stream.mayBeginEarly);
    const hit = await this.#find(lookUp, call);
    client.stop();
    if (!hit && !this.#gone.signal.aborted) {
      this.#miss(call);
      return false;
    }
    if (this.#cutOff) {
      const failed = { client, stream, isBroken: false, text: null, attempts: 0 };
      reportFailure({ kind: 'error', error: this.#cutOff }, failed);
    }
    if (hit) {
      trace.cached = hit.note;
      trace.cachedModel = hit.answer.modelServed;
      await this.#send(client, hit.answer);
    }
    trace.response = client.summary;
    return true;
  }

  /**
   * The answer to send, with a note for the ledger; null if the request has to be sent to a provider. Waits for an
   * equal request that is running, if the group is configured so.
   */
  async #find({ use, key }: LookUp, call: OutgoingCall): Promise<{ answer: CachedAnswer; note: CacheNote } | null> {
    const { response } = this.#admitted;
    const stored = use === 'refresh' ? null : this.#cache.find(key, this.#settings.ttlSeconds * 1000);
    if (stored) return this.#foundAnswer(stored, 'hit');
    if (use === 'refresh' || !this.#settings.coalesce) return null;
    const running = this.#cache.flight(key);
    // Before any wait, so that only one of two equal requests becomes the first.
    if (!running) {
      this.#flight = this.#cache.startFlight(key);
      return null;
    }
    const sharedAnswer = await Promise.race([running.landed, this.#whenGone()]);
    // A comment has made the response a stream.
    const isFit =
      !response.headersSent || (sharedAnswer && isEventStream(sharedAnswer.headers, framingOf(call.match.route)));
    return sharedAnswer && isFit ? this.#foundAnswer(sharedAnswer, 'shared') : null;
  }

  #foundAnswer(answer: CachedAnswer, result: 'hit' | 'shared'): { answer: CachedAnswer; note: CacheNote } {
    const note: CacheNote = { result, savedUsd: answer.costUsd, savedUsage: answer.usage };
    this.#cache.count(result === 'hit' ? 'hits' : 'shared', answer.costUsd);
    return { answer, note };
  }

  /** A provider's answer is copied, so that it can be stored. */
  #miss(call: OutgoingCall): void {
    const { response, trace, taps } = this.#admitted;
    this.#cache.count('misses', null);
    const { keepAlive: comment, contentType } = framingOf(call.match.route);
    this.#recorder = new CacheRecorder(response, { maxBytes: this.#settings.maxBytes, comment });
    if (response.headersSent) this.#recorder.begin(200, { 'content-type': contentType });
    else response.setHeader(cacheHeader, 'miss');
    taps.push(this.#recorder);
    trace.cached = { result: 'miss', savedUsd: null, savedUsage: null };
  }

  /** Sends a cached answer at once, with the bytes of the original. */
  #send(client: ClientResponse, { status, headers, body }: CachedAnswer): Promise<void> {
    const { response } = this.#admitted;
    // False if keep-alive comments were sent while this request waited for an equal one.
    if (!response.headersSent) {
      response.setHeader(cacheHeader, 'hit');
      for (const name of lossHeaderNames) {
        const value = headers[name];
        if (value !== undefined) response.setHeader(name, value);
      }
    }
    const stored = { status, headers, pieces: [{ afterMs: 0, bytes: body }], isCut: false };
    return sendStored(client, stored, { pace: 0, answerer: null, clientGone: this.#gone.signal });
  }

  clientLeft(): void {
    this.#gone.abort();
    this.#client?.left();
  }

  cutOff(error: GatewayError): boolean {
    this.#cutOff = error;
    this.#gone.abort();
    return this.#client !== null;
  }

  /** Stores the answer if it is complete, and resumes the requests that wait for it. */
  answered({ accounting: { usage, costUsd } }: Ending): void {
    if (this.#lookUp === null) return;
    const { key, generation } = this.#lookUp;
    const { trace } = this.#admitted;
    const response = isWhole(trace) ? (this.#recorder?.read() ?? null) : null;
    const answer = response && { ...response, usage, costUsd, modelServed: trace.answering?.record.model ?? null };
    if (answer) this.#cache.store(key, answer, { generation, maxBytes: this.#settings.maxBytes });
    this.#flight?.land(answer);
  }

  #whenGone(): Promise<null> {
    const { signal } = this.#gone;
    return new Promise((resolve) => {
      if (signal.aborted) resolve(null);
      else signal.addEventListener('abort', () => resolve(null), { once: true });
    });
  }
}

/** Whether the client has received a complete and undamaged answer of a single provider. */
function isWhole({ response, answering, attempts, createdJob }: RequestTrace): boolean {
  if (response.outcome !== 'ok' || !answering || createdJob) return false;
  const { failure, error, droppedEvents } = answering.record;
  const isRescued = attempts.some(({ record }) => record.cause === 'rescue');
  return failure === null && error === null && droppedEvents === 0 && !isRescued;
}

/**
 * Equal for requests that every provider must answer alike: operation, requested model, targets, forwarded headers, and
 * the body byte for byte. The order of a JSON object's members counts, since models follow that of a schema.
 *
 * `lossy`: the request's `x-sluice-lossy`.
 */
function requestKey(plan: CallPlan, call: OutgoingCall, lossy: string | string[] | undefined): string {
  const { match, group, body, headers, path, query } = call;
  const targets = plan.targets.map(({ provider, model }) => [provider.id, provider.endpoint, provider.headers, model]);
  const headerNames = Object.keys(headers).filter(decidesAnswer).sort();
  const metadata = JSON.stringify([
    match.route.method,
    match.route.wire.name,
    path,
    query,
    plan.model,
    targets,
    [group.policy.losses, lossy ?? null],
    headerNames.map((name) => [name, headers[name]]),
  ]);
  const hash = createHash('sha256').update(`${metadata.length}\n${metadata}\n`);
  return hash.update(body.captured ?? '').digest('base64');
}

/** Headers that identify the client, its session or its attempt, and do not affect the answer. */
const idle: ReadonlySet<string> = new Set([
  'user-agent',
  'x-title',
  'http-referer',
  'date',
  'cache-control',
  'pragma',
  'cookie',
  'priority',
  'traceparent',
  'tracestate',
  'baggage',
  'idempotency-key',
  'x-request-id',
  'x-client-request-id',
  'x-app',
  'originator',
  ...sessionHeaders,
]);
const idlePrefix = 'x-stainless-';

function decidesAnswer(name: string): boolean {
  return !idle.has(name) && !name.startsWith(idlePrefix);
}

/** Longer answers are not kept. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** Keeps a copy of a response while it is sent. */
export class CacheRecorder implements ClientResponseTap {
  readonly #response: ServerResponse;
  readonly #maxBytes: number;
  /** The comments that Sluice sends in silence, which are no part of the answer. */
  readonly #comment: Buffer | null;
  #status = 0;
  #headers: Record<string, string> = {};
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(response: ServerResponse, options: { maxBytes: number; comment: Buffer | null }) {
    this.#response = response;
    this.#maxBytes = Math.min(options.maxBytes, maxAnswerBytes);
    this.#comment = options.comment;
  }

  begin(status: number, headers: Headers): void {
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value === 'string' && (name.startsWith('content-') || lossHeaderNames.has(name)))
        this.#headers[name] = value;
    }
    for (const name of lossHeaderNames) {
      const set = this.#response.getHeader(name);
      if (typeof set === 'string') this.#headers[name] = set;
    }
  }

  take(bytes: Buffer): void {
    if (bytes === this.#comment) return;
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#maxBytes) this.#pieces.push(Buffer.from(bytes));
    else this.#pieces = [];
  }

  /** Null if the response is too long or not a success. */
  read(): { status: number; headers: Record<string, string>; body: Buffer } | null {
    const isSuccess = this.#status >= 200 && this.#status < 300;
    if (!isSuccess || this.#bytes > this.#maxBytes) return null;
    return { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#pieces) };
  }
}

/** Sluice's own headers that belong to the answer: what its translation lost. */
const lossHeaderNames: ReadonlySet<string> = new Set(['x-sluice-dropped', 'x-sluice-emulated']);

const cacheHeader = 'x-sluice-cache';

/** `refresh`: the request is sent, and its answer replaces the stored one. */
type CacheUse = 'none' | 'normal' | 'refresh';

interface CacheableCall {
  match: RouteMatch;
  body: RequestBody;
}

/** Longer bodies take too long to hash on the event loop. */
const maxRequestBytes = 8 * 1024 * 1024;
/** Longer bodies take too long to parse; they are cached only on request. */
const maxParsedBytes = 512 * 1024;

/** Which requests the response cache answers. */
function cacheUseOf(call: CacheableCall, headers: IncomingHttpHeaders, { forced }: CacheSettings): CacheUse {
  const requestedUse = String(headers[cacheHeader] ?? '')
    .trim()
    .toLowerCase();
  const control = String(headers['cache-control'] ?? '').toLowerCase();
  if (requestedUse === 'skip' || control.includes('no-store') || !mayBeKept(call)) return 'none';
  if (!forced && requestedUse !== 'use' && !isDeterministic(call)) return 'none';
  return control.includes('no-cache') ? 'refresh' : 'normal';
}

/** Whether the answer depends on the request alone and leaves nothing behind at the provider. */
function mayBeKept({ match, body }: CacheableCall): boolean {
  const { route } = match;
  if (route.method !== 'POST' || match.passthrough !== null || route.session !== null) return false;
  if (body.captured === null || body.isSingleUse || body.size > maxRequestBytes) return false;
  if (body.fields.previousResponseId !== null) return false;
  return route.job === null || isUnstoredResponse({ match, body });
}

function isUnstoredResponse({ match: { route }, body }: CacheableCall): boolean {
  if (route.job?.kind !== 'response' || route.job.behaviour !== 'creates' || body.fields.store) return false;
  return !route.wire.request.isBackground(body) && !addsToConversation(body);
}

/** Whether the request asks for a deterministic answer. */
function isDeterministic({ match: { route }, body }: CacheableCall): boolean {
  const { operation } = route.wire;
  if (route.writeTokenCount || operation === 'embeddings' || operation === 'moderations') return true;
  if (operation !== 'chat' && operation !== 'completions' && operation !== 'responses') return false;
  if (body.captured === null || body.size > maxParsedBytes) return false;
  const request = parseObject(body.captured.toString('utf8'));
  return request !== null && route.wire.request.temperatureOf(request) === 0 && runsNothingAtProvider(request);
}
