/** One request from its plan to its record: which targets may answer it, its limits, its attempts, and what it cost. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RouteMatch } from '../apis/registry.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { CacheSettings } from '../contract/answer-cache.ts';
import type { GatewayError } from '../contract/errors.ts';
import type { RequestRecord, RequestStarted, Reserved, Usage } from '../contract/ledger.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { PriceTable } from '../models/price-table.ts';
import type { Observability } from '../observability/observability.ts';
import type { Member, Snapshot } from '../routing/snapshot.ts';
import { type CaptureSwitch, captureHeader } from '../store/rules/capture-switch.ts';
import type { ClientResponse } from './answer/client-response.ts';
import { createClientResponse } from './answer/create-client-response.ts';
import { reportFailure } from './attempts/report-failure.ts';
import { UpstreamAttempts } from './attempts/upstream-attempts.ts';
import type { UpstreamAttemptsPorts } from './attempts/upstream-attempts-options.ts';
import { type CacheLookup, lookUpInCache } from './cache/cache-lookup.ts';
import { sendCached } from './cache/send-cached.ts';
import { ExchangeCapture } from './capture/exchange-capture.ts';
import { type RecentCaptures, recentBodyBytes } from './capture/recent-captures.ts';
import type { WaitingCaptures } from './capture/waiting-captures.ts';
import { CassetteCompanion } from './cassette/cassette-companion.ts';
import type { CassetteDeck, CassetteSource } from './cassette/cassette-deck.ts';
import { cassetteRequestOf } from './cassette/cassette-request.ts';
import type { FaultInjector } from './faults/fault-injector.ts';
import type { JobBilling } from './jobs/job-billing.ts';
import { noteSize } from './jobs/object-ownership.ts';
import { checkName } from './plan/check-written-secrets.ts';
import { enforceLimits, hardBudgetOf } from './plan/enforce-limits.ts';
import { findNamedObjects, nothingNamed } from './plan/named-objects.ts';
import type { CallPlan } from './plan/plan.ts';
import { fieldsOf, planRoute } from './plan/plan-route.ts';
import { pricedTargets } from './plan/priced-targets.ts';
import { accountFor, attemptThatMade, runsInBackground } from './record/accounting.ts';
import { type ClientResponseTap, joinTaps } from './record/client-response-tap.ts';
import type { RequestTrace } from './record/exchange-trace.ts';
import type { OutgoingCall } from './request/outgoing-call.ts';
import type { RequestBody } from './request/request-body.ts';
import { assignSession } from './sessions/assign-session.ts';
import type { SessionTracker } from './sessions/session-tracker.ts';

export interface ExchangePorts extends UpstreamAttemptsPorts {
  limiter: Limiter;
  bills: JobBilling;
  sessions: SessionTracker;
  prices: PriceTable;
  cache: AnswerCache;
  started(request: RequestStarted, reserved: Reserved | null): void;
  finished(record: RequestRecord): void;
  /** Begins spans. */
  observability: Pick<Observability, 'tracer'>;
  captureSwitch: Pick<CaptureSwitch, 'causeOf' | 'isRecent'>;
  recentCaptures: Pick<RecentCaptures, 'keep'>;
  /** Record exchanges, or replay them instead of asking providers. */
  cassettes: CassetteSource;
  /** Stores headers and bodies. */
  captures: WaitingCaptures;
}

interface ExchangeOptions {
  request: IncomingMessage;
  response: ServerResponse;
  snapshot: Snapshot;
  trace: RequestTrace;
}

/** A whole answer that no provider gave. */
export interface LocalReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export class Exchange {
  readonly #ports: ExchangePorts;
  readonly #options: ExchangeOptions;
  readonly #trace: RequestTrace;
  /** Set before `run` if faults are to be injected into the response. */
  faultInjector: FaultInjector | null = null;
  #attempts: UpstreamAttempts | undefined;
  #capture: ExchangeCapture | null = null;
  /** It is kept in memory only. */
  #isRecent = false;
  /** Null if no cassette applies to the request. */
  #cassette: CassetteCompanion | null = null;
  /** Null if the response cache does not apply to the request. */
  #cacheLookup: CacheLookup | null = null;
  /** The response that comes from the cache. */
  #cachedClient: ClientResponse | undefined;
  /** Set by `findJobs`. */
  #named = nothingNamed;
  #reserved: Reserved | null = null;
  /** The usage to record if the actual usage is unknown and a hard budget applies. */
  #fallbackUsage: Usage | null = null;
  /** Why Sluice itself has ended the response. */
  #cutOff: GatewayError | null = null;

  constructor(ports: ExchangePorts, options: ExchangeOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#trace = options.trace;
  }

  clientLeft(): void {
    this.#attempts?.clientLeft();
    this.#cassette?.clientLeft();
    this.#cacheLookup?.gone.abort();
    this.#cachedClient?.left();
  }

  /**
   * Ends the response and tells the client why. False if nobody is answering yet, so that the caller has to do so; nobody
   * will be asked then.
   */
  cutOff(error: GatewayError): boolean {
    this.#cutOff = error;
    if (this.#attempts) return this.#attempts.cutOff(error);
    if (this.#cassette?.cutOff(error)) return true;
    this.#cacheLookup?.gone.abort();
    return this.#cachedClient !== undefined;
  }

  /** Call when the upload fails: stops the attempts as if the client had left, but still sends the client an error. */
  bodyBroke(): void {
    this.#attempts?.clientLeft();
  }

  /**
   * Replays a recorded answer, or prepares to record a provider's. Resolves with whether the request was answered.
   * Rejects with a GatewayError `replay_miss`.
   */
  async replay(cassette: CassetteDeck, match: RouteMatch, body: RequestBody): Promise<boolean> {
    const { request, response, snapshot } = this.#options;
    const trace = this.#trace;
    const tap = this.#capture?.response ?? null;
    const visit = new CassetteCompanion({ response, trace, tap, faultInjector: this.faultInjector });
    this.#cassette = visit;
    trace.model = match.model ?? body.fields.model;
    return visit.answer(cassette, await cassetteRequestOf({ request, match, body, trace, snapshot }));
  }

  /** Must precede `plan`. Returns a promise only if the store has to be queried for jobs that the request names. */
  findJobs(match: RouteMatch, member: Member, body: RequestBody, query: string): Promise<void> | null {
    const found = findNamedObjects(this.#ports.jobs, { match, member, body, query });
    if (!(found instanceof Promise)) {
      this.#named = found;
      return null;
    }
    return found.then((named) => {
      this.#named = named;
    });
  }

  /**
   * Checks limits and reports the request as started; from here on it counts towards them. Returns a promise only if limits
   * are counted together with other replicas.
   */
  plan(match: RouteMatch, member: Member, body: RequestBody): CallPlan | Promise<CallPlan> {
    const { model } = fieldsOf(match, body);
    this.#trace.model = model;
    if (model !== null) checkName('model', model, this.#trace.secrets);
    assignSession(this.#ports.sessions, this.#options, { route: match.route, keyId: member.key.id, body });
    const { jobs, holder, sizeAt } = this.#named;
    const callPlan = planRoute({ match, member, body, snapshot: this.#options.snapshot, jobs, holder });
    this.#trace.model = callPlan.model;
    this.#trace.job = callPlan.job ?? null;
    const call = { requestId: this.#trace.id, route: match.route, ...member, body, sizeAt, plan: callPlan };
    const plan = pricedTargets(this.#ports.prices, call);
    const reserved = enforceLimits(this.#ports, this.#options.response, { ...call, plan });
    if (!(reserved instanceof Promise)) return this.#admittedAs(plan, member, reserved);
    this.#ports.eventLoopMonitor.end();
    return reserved.then((finalReserved) => this.#admittedAs(plan, member, finalReserved));
  }

  #admittedAs(plan: CallPlan, member: Member, reserved: Reserved | null): CallPlan {
    this.#reserved = reserved;
    if (reserved && hardBudgetOf(member)) this.#fallbackUsage = reserved.usage;
    this.#ports.started(this.#trace.started, reserved);
    this.#ports.eventLoopMonitor.end();
    return plan;
  }

  /**
   * Resolves when the client has its response or has left. Throws GatewayError if nothing was sent and Sluice has to state
   * the reason.
   */
  run(plan: CallPlan, call: OutgoingCall): Promise<void> {
    if (this.#cutOff) throw this.#cutOff;
    const responseCapture = this.#capture?.response ?? null;
    const tap = this.#cassette ? joinTaps([responseCapture, this.#cassette.recording]) : responseCapture;
    const { cache: settings } = call.group;
    return settings === null ? this.#askProviders(plan, call, tap) : this.#askCache(settings, plan, call, tap);
  }

  async #askCache(
    settings: CacheSettings,
    plan: CallPlan,
    call: OutgoingCall,
    tap: ClientResponseTap | null,
  ): Promise<void> {
    const { response } = this.#options;
    const visit = lookUpInCache({ cache: this.#ports.cache, settings, plan, call, response });
    this.#cacheLookup = visit;
    if (!visit) return this.#askProviders(plan, call, tap);
    if (await this.#answeredBy(visit, call, tap)) return;
    const missed = visit.miss(call);
    this.#trace.cached = missed.note;
    await this.#askProviders(plan, call, joinTaps([tap, missed.tap]));
  }

  #askProviders(plan: CallPlan, call: OutgoingCall, tap: ClientResponseTap | null): Promise<void> {
    const { request, response, snapshot } = this.#options;
    const { settings } = snapshot;
    const options = {
      ports: this.#ports,
      request,
      response,
      settings,
      trace: this.#trace,
      capture: this.#capture,
      tap,
      faultInjector: this.faultInjector,
    };
    this.#attempts = new UpstreamAttempts(options, plan, call);
    return this.#attempts.run();
  }

  /** False if the request has to be sent to a provider. */
  async #answeredBy(visit: CacheLookup, call: OutgoingCall, tap: ClientResponseTap | null): Promise<boolean> {
    const { response, snapshot } = this.#options;
    const { faultInjector } = this;
    const client = createClientResponse(
      { response, settings: snapshot.settings, trace: this.#trace, tap, faultInjector },
      call,
    );
    this.#cachedClient = client;
    const { stream } = call.match.route;
    if (call.body.fields.stream && stream) client.keepAlive(stream.mayBeginEarly);
    const hit = await visit.find(call);
    client.stop();
    const { signal } = visit.gone;
    if (!hit && !signal.aborted) return false;
    if (this.#cutOff) {
      const { stream } = call.match.route;
      const failed = { client, stream, isBroken: false, text: null, attempts: 0 };
      reportFailure({ kind: 'error', error: this.#cutOff }, failed);
    }
    if (hit) {
      this.#trace.cached = hit.note;
      this.#trace.cachedModel = hit.answer.modelServed;
      await sendCached({ client, response }, hit.answer, signal);
    }
    this.#trace.response = client.summary;
    return true;
  }

  /** Must be called as soon as the key is known, since a request that is refused later is captured, too. */
  admitted(member: Member): void {
    const { request, snapshot } = this.#options;
    const { tracer } = this.#ports.observability;
    if (tracer !== null) this.#trace.tracing = tracer.begin(request.headers, this.#trace.startedAt);
    const cause = this.#ports.captureSwitch.causeOf(member, request.headers[captureHeader]);
    this.#isRecent = cause === null && this.#ports.captureSwitch.isRecent(member);
    if (cause === null && !this.#isRecent) return;
    const maxBytes = this.#isRecent ? recentBodyBytes : snapshot.settings.capture.maxBytes;
    this.#trace.captured = cause;
    this.#capture = new ExchangeCapture({ maxBytes, request, secrets: this.#trace.secrets });
  }

  /** Sluice has answered by itself. This is recorded, too, because a provider may have been asked for it. */
  answered({ status, headers, body }: LocalReply): void {
    this.#capture?.answeredBySluice();
    this.#cassette?.recording?.begin(status, headers);
    this.#cassette?.recording?.take(body);
    this.#trace.response = { ...this.#trace.response, outcome: 'ok', status };
  }

  /** Null if the request is not captured. */
  get capture(): ExchangeCapture | null {
    return this.#capture;
  }

  /** Records the finished request, even if it was never planned. */
  record(body: RequestBody | undefined): void {
    const { prices, captures, recentCaptures } = this.#ports;
    const unfetchable = this.#reserved?.usage ?? null;
    const accounting = accountFor(this.#trace, body, { prices, reserved: this.#fallbackUsage, unfetchable });
    this.#cassette?.end(accounting.usage);
    const record = this.#trace.record(this.#options.request, accounting);
    if (this.#trace.session !== null) this.#trace.session.hasEnded = true;
    this.#cacheLookup?.settle(this.#trace, record);
    this.#book(record, body);
    if (this.#trace.tracing !== null) this.#trace.tracing.finished(record);
    if (this.#capture && this.#isRecent) recentCaptures.keep(this.#trace.id, this.#capture.hold(this.#trace));
    else if (this.#capture) captures.add(this.#trace.id, this.#capture.exchange(this.#trace));
    // A slow client may take long to read the response; the request body must not stay in memory for that time.
    this.#attempts = undefined;
    this.#cacheLookup = null;
    this.#cachedClient = undefined;
  }

  /** Records the request and the usage of a background job that it created or found finished. */
  #book(record: RequestRecord, body: RequestBody | undefined): void {
    const { bills, finished, jobs } = this.#ports;
    const { job, createdJob, deletedJob, answering, session } = this.#trace;
    if (session && createdJob?.kind === 'response')
      this.#ports.sessions.stored(session, createdJob.keyId ?? '', createdJob.id);
    const maker = attemptThatMade(this.#trace);
    if (maker && createdJob && record.usage === null && runsInBackground(this.#trace, maker, body)) {
      bills.owe(createdJob, this.#reserved, session);
    } else if (createdJob) noteSize(jobs, createdJob, record);
    if (deletedJob) bills.bookDeleted(deletedJob, record);
    else if (job?.owed && answering && record.outcome === 'ok') {
      bills.book(job, { tail: answering.excerpt, contentType: answering.responseType }, record);
    } else finished(record);
  }
}
