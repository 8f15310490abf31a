/** One request from its plan to its record: which targets may answer it, its limits, its attempts, and what it cost. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { CacheSettings } from '../contract/answer-cache.ts';
import type { CapturedExchange } from '../contract/capture.ts';
import type { RequestRecord, RequestStarted, Reserved, Usage } from '../contract/ledger.ts';
import { type KnownJobs, noJobs } from '../jobs/job-store.ts';
import { type CaptureSwitch, captureHeader } from '../ledger/capture-switch.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Observability } from '../observability/observability.ts';
import type { Member, Snapshot } from '../routing/snapshot.ts';
import type { PriceTable } from '../usage/price-table.ts';
import type { RouteMatch } from '../wire/registry.ts';
import { accountFor, goesOn } from './accounting.ts';
import type { AttemptsPorts } from './attempts-options.ts';
import { type CacheVisit, visitCache } from './cache/cache-visit.ts';
import { sendCached } from './cache/send-cached.ts';
import { ExchangeCapture } from './capture/exchange-capture.ts';
import type { CassetteDesk, CassetteDesks } from './cassette-desk.ts';
import { CassetteVisit } from './cassette-visit.ts';
import { checkModelName } from './check-model-name.ts';
import type { ClientResponse } from './client-response.ts';
import type { RequestTrace } from './exchange-trace.ts';
import type { FaultedOutput } from './faults/faulted-output.ts';
import { heardRequest } from './heard-request.ts';
import { hasHardDollarBudget, holdToLimits } from './hold-to-limits.ts';
import type { JobBills } from './job-bills.ts';
import { objectsNamedIn } from './named-objects.ts';
import { openClient } from './open-client.ts';
import type { OutgoingCall } from './outgoing-request.ts';
import type { CallPlan } from './plan.ts';
import { fieldsOf, planRoute } from './plan-route.ts';
import { pricedTargets } from './priced-targets.ts';
import type { RequestBody } from './request-body.ts';
import { joinTaps, type ResponseTap } from './response-tap.ts';
import { holdToSession } from './sessions/hold-to-session.ts';
import type { SessionBook } from './sessions/session-book.ts';
import type { ChosenRequest, ShadowDesk } from './shadow/shadow-desk.ts';
import { UpstreamAttempts } from './upstream-attempts.ts';

export interface ExchangePorts extends AttemptsPorts {
  limiter: Limiter;
  bills: JobBills;
  sessions: SessionBook;
  prices: PriceTable;
  cache: AnswerCache;
  shadows: Pick<ShadowDesk, 'choose'>;
  started(request: RequestStarted, reserved: Reserved | null): void;
  finished(record: RequestRecord): void;
  /** Begins spans. */
  observability: Pick<Observability, 'tracer'>;
  captureSwitch: Pick<CaptureSwitch, 'causeOf'>;
  /** Record requests, or answer them instead of providers. */
  cassettes: CassetteDesks;
  /** Stores headers and bodies. */
  capture(id: string, exchange: CapturedExchange<Buffer>): void;
}

interface ExchangeOptions {
  request: IncomingMessage;
  response: ServerResponse;
  snapshot: Snapshot;
  trace: RequestTrace;
}

/** A whole answer that no provider gave. */
export interface OwnAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export class Exchange {
  readonly #ports: ExchangePorts;
  readonly #options: ExchangeOptions;
  readonly #trace: RequestTrace;
  /** Set before `run` if the response is to meet a fault on purpose. */
  faulted: FaultedOutput | null = null;
  #attempts: UpstreamAttempts | undefined;
  #capture: ExchangeCapture | null = null;
  /** Null if no cassette has anything to do with the request. */
  #cassette: CassetteVisit | null = null;
  /** Null if it is not one of its group's requests that are to get a shadow. */
  #chosen: ChosenRequest | null = null;
  /** Null if the response cache has nothing to do with the request. */
  #visit: CacheVisit | null = null;
  /** The response that comes from the cache. */
  #cached: ClientResponse | undefined;
  /** The jobs that the request names. */
  #jobs: KnownJobs = noJobs;
  #reserved: Reserved | null = null;
  /** The usage to book if the actual usage is unknown and a hard budget applies. */
  #standIn: Usage | null = null;

  constructor(ports: ExchangePorts, options: ExchangeOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#trace = options.trace;
  }

  clientLeft(): void {
    this.#attempts?.clientLeft();
    this.#cassette?.clientLeft();
    this.#visit?.gone.abort();
    this.#cached?.left();
  }

  /** Call when the upload fails: stops the attempts as if the client had left, but still sends the client an error. */
  bodyBroke(): void {
    this.#attempts?.clientLeft();
  }

  /**
   * Lets the cassette answer, or record what a provider answers. Resolves with whether it has answered. Rejects with a
   * GatewayError `replay_miss`.
   */
  async replay(cassette: CassetteDesk, match: RouteMatch, body: RequestBody): Promise<boolean> {
    const { request, response, snapshot } = this.#options;
    const trace = this.#trace;
    const tap = this.#capture?.response ?? null;
    const visit = new CassetteVisit({ response, trace, tap, faulted: this.faulted });
    this.#cassette = visit;
    trace.model = match.model ?? body.fields.model;
    return visit.answer(cassette, await heardRequest({ request, match, body, trace, snapshot }));
  }

  /** Must precede `plan`. Returns a promise only if the store has to be asked for jobs that the request names. */
  findJobs(match: RouteMatch, { group }: Member, body: RequestBody): Promise<void> | null {
    const ids = objectsNamedIn(match, body);
    if (ids.length === 0) return null;
    const known = this.#ports.jobs.lookUp(ids, group.id);
    if (!(known instanceof Promise)) {
      this.#jobs = known;
      return null;
    }
    return known.then((jobs) => {
      this.#jobs = jobs;
    });
  }

  /**
   * Checks limits and reports the request as started; from here on it counts towards them. Returns a promise only if limits
   * are counted together with other replicas.
   */
  plan(match: RouteMatch, member: Member, body: RequestBody): CallPlan | Promise<CallPlan> {
    const { model } = fieldsOf(match, body);
    this.#trace.model = model;
    if (model !== null) checkModelName(model, this.#trace.presented);
    holdToSession(this.#ports.sessions, this.#options, { route: match.route, keyId: member.key.id, body });
    const planned = planRoute({ match, member, body, snapshot: this.#options.snapshot, jobs: this.#jobs });
    this.#trace.model = planned.model;
    this.#trace.job = planned.job ?? null;
    const call = { requestId: this.#trace.id, route: match.route, ...member, body, plan: planned };
    const plan = pricedTargets(this.#ports.prices, call);
    const reserved = holdToLimits(this.#ports, this.#options.response, { ...call, plan });
    if (!(reserved instanceof Promise)) return this.#admittedAs(plan, member, reserved);
    this.#ports.loopWatch.end();
    return reserved.then((later) => this.#admittedAs(plan, member, later));
  }

  #admittedAs(plan: CallPlan, member: Member, reserved: Reserved | null): CallPlan {
    this.#reserved = reserved;
    if (reserved && hasHardDollarBudget(member)) this.#standIn = reserved.usage;
    this.#ports.started(this.#trace.started, reserved);
    this.#ports.loopWatch.end();
    return plan;
  }

  /**
   * Resolves when the client has its response or has left. Throws GatewayError if nothing was sent and Sluice has to state
   * the reason.
   */
  run(plan: CallPlan, call: OutgoingCall): Promise<void> {
    if (this.#chosen !== null) this.#chosen.call = call;
    const captured = this.#capture?.response ?? null;
    const tap = this.#cassette ? joinTaps([captured, this.#cassette.recording]) : captured;
    const { cache: settings } = call.group;
    return settings === null ? this.#askProviders(plan, call, tap) : this.#askCache(settings, plan, call, tap);
  }

  async #askCache(settings: CacheSettings, plan: CallPlan, call: OutgoingCall, tap: ResponseTap | null): Promise<void> {
    const { response } = this.#options;
    const visit = visitCache({ cache: this.#ports.cache, settings, plan, call, response });
    this.#visit = visit;
    if (!visit) return this.#askProviders(plan, call, tap);
    if (await this.#answeredBy(visit, call, tap)) return;
    const missed = visit.miss(call);
    this.#trace.cached = missed.note;
    await this.#askProviders(plan, call, joinTaps([tap, missed.tap]));
  }

  #askProviders(plan: CallPlan, call: OutgoingCall, tap: ResponseTap | null): Promise<void> {
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
      faulted: this.faulted,
    };
    this.#attempts = new UpstreamAttempts(options, plan, call);
    return this.#attempts.run();
  }

  /** False if the request has to be sent to a provider. */
  async #answeredBy(visit: CacheVisit, call: OutgoingCall, tap: ResponseTap | null): Promise<boolean> {
    const { response, snapshot } = this.#options;
    const { faulted } = this;
    const client = openClient({ response, settings: snapshot.settings, trace: this.#trace, tap, faulted }, call);
    this.#cached = client;
    const { stream } = call.match.route;
    if (call.body.fields.stream && stream) client.keepAlive(stream.mayBeginEarly);
    const found = await visit.find(call);
    client.stop();
    const { signal } = visit.gone;
    if (!found && !signal.aborted) return false;
    if (found) {
      this.#trace.cached = found.note;
      await sendCached({ client, response }, found.answer, signal);
    }
    this.#trace.response = client.summary;
    return true;
  }

  /** Must be called as soon as the key is known, since a request that is refused later is captured, too. */
  admitted(member: Member): void {
    const { request, snapshot } = this.#options;
    const { tracer } = this.#ports.observability;
    if (tracer !== null) this.#trace.tracing = tracer.begin(request.headers, this.#trace.startedAt);
    const { shadow } = member.group;
    if (shadow !== null) this.#chosen = this.#ports.shadows.choose(shadow, { ...this.#options, group: member.group });
    const cause =
      this.#ports.captureSwitch.causeOf(member, request.headers[captureHeader]) ?? this.#chosen?.captureCause;
    if (cause == null) return;
    const { maxBytes } = snapshot.settings.capture;
    this.#trace.captured = cause;
    this.#capture = new ExchangeCapture({ maxBytes, request, presented: this.#trace.presented });
  }

  /** Sluice has answered by itself; that is recorded, too, since a provider may have been asked for it. */
  answered({ status, headers, body }: OwnAnswer): void {
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
    const { prices, capture } = this.#ports;
    const shadow = this.#chosen?.prepare(body) ?? null;
    if (shadow === null && this.#trace.captured === 'shadow') {
      this.#trace.captured = null;
      this.#capture = null;
    }
    const unfetchable = this.#reserved?.usage ?? null;
    const accounting = accountFor(this.#trace, body, { prices, reserved: this.#standIn, unfetchable });
    this.#cassette?.end(accounting.usage);
    const record = this.#trace.record(this.#options.request, accounting);
    if (this.#trace.session !== null) this.#trace.session.hasEnded = true;
    this.#visit?.settle(this.#trace, record);
    if (this.#trace.tracing !== null) this.#trace.tracing.finished(record);
    this.#book(record, body);
    const captured = this.#capture?.exchange(this.#trace) ?? null;
    if (captured) capture(this.#trace.id, captured);
    shadow?.begin(record, captured);
    // A slow client may take long to read the response; the request body must not stay in memory for that time.
    this.#attempts = undefined;
    this.#visit = null;
    this.#cached = undefined;
  }

  /** Books the request and the usage of a background job that it created or found finished. */
  #book(record: RequestRecord, body: RequestBody | undefined): void {
    const { bills, finished } = this.#ports;
    const { job, madeJob, deletedJob, answering, session } = this.#trace;
    if (session && madeJob?.kind === 'response') this.#ports.sessions.stored(session, madeJob.keyId ?? '', madeJob.id);
    if (answering && madeJob && record.usage === null && goesOn(this.#trace, answering, body)) {
      bills.owe(madeJob, this.#reserved);
    }
    if (deletedJob) bills.bookDeleted(deletedJob, record);
    else if (job?.owed && answering && record.outcome === 'ok') {
      bills.book(job, { tail: answering.tail, contentType: answering.responseType }, record);
    } else finished(record);
  }
}
