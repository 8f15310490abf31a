/**
 * The course of a request: admit → receive → answer from elsewhere → plan → limits → attempts → record. `#serve` tells it from
 * top to bottom. Features that accompany it are called at its moments (`companion.ts`); the door (`Door`) is the listener's side.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { withSegment } from '../apis/core/requests/segments.ts';
import type { RequestLocation, RouteMatch } from '../apis/registry.ts';
import { GatewayError } from '../contract/errors.ts';
import type { RequestRecord, RequestStarted, Reserved } from '../contract/ledger.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { PriceTable } from '../models/price-table.ts';
import type { CompiledGroup, CompiledKey, Member, Snapshot } from '../routing/snapshot.ts';
import type { JobStore } from '../store/ports/kept-stores.ts';
import type { BookedJob } from '../store/rules/rows.ts';
import { toGatewayError } from './answer/attempt-failures.ts';
import { type LocalReply, sendJson } from './answer/local-reply.ts';
import { Attempts, type AttemptsPorts } from './attempts/attempts.ts';
import { estimatedTokenCount, tokenCountPlan } from './attempts/token-count.ts';
import {
  type AdmittedRequest,
  type Answerer,
  type Companion,
  type Ending,
  oneAnswers,
  type PlannedCall,
  type ReceivedCall,
  type Visit,
} from './course/companion.ts';
import { checkQuery, outgoingQuery, passableHeaders } from './outgoing/outgoing-request.ts';
import { enforceLimits, hardBudgetOf, type LimitedCall } from './plan/plan.ts';
import {
  checkName,
  checkPassthrough,
  checkPath,
  fieldsOf,
  findNamedObjects,
  type NamedObjects,
  planRoute,
  pricedTargets,
} from './plan/plan-route.ts';
import { accountFor } from './record/accounting.ts';
import type { RequestTrace } from './record/exchange-trace.ts';
import { joinTaps } from './record/response-taps.ts';
import type { MemoryAccount } from './request/outgoing-call.ts';
import { ClientGone, type RequestBody } from './request/request-body.ts';

export interface ExchangePorts {
  limiter: Limiter;
  prices: PriceTable;
  jobs: JobStore;
  attempts: AttemptsPorts;
  companions: readonly Companion[];
  started(request: RequestStarted, reserved: Reserved | null): void;
  /**
   * False if the request gets no row, because it is one of many that are refused.
   */
  finished(record: RequestRecord, ending: { hasBegun: boolean; books?: BookedJob | undefined }): boolean;
}

/** The listener's side of a request. What it does throws a GatewayError if the request is to be refused. */
export interface Door {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly location: RequestLocation;
  readonly snapshot: Snapshot;
  readonly trace: RequestTrace;
  checkSender(): void;
  /** What answers a request for models or for a key's own usage; null for all others. */
  ownEndpoint(): ((member: Member) => MaybePromise<LocalReply>) | null;
  findRoute(): RouteMatch;
  authenticate(): CompiledKey;
  /** The key; null if `authenticate` would refuse it. */
  validKey(): CompiledKey | null;
  /** Takes a place among the requests that run. Returns a promise only if it has to wait for one. */
  enter(key: CompiledKey): MaybePromise<Place>;
  /** Answers with an error. Null if the response had begun. */
  refuse(error: GatewayError): LocalReply | null;
}

/** A place among the requests that run. */
export interface Place {
  readonly memory: MemoryAccount & { readonly bytes: number };
  receive(match: RouteMatch, group: CompiledGroup, receiving: Receiving): MaybePromise<RequestBody>;
  /** Reads a body that Sluice has put together. */
  readJson(bytes: Buffer, continuesId: string | undefined): MaybePromise<RequestBody>;
  release(): void;
}

interface Receiving {
  /** What is passed through is read as a whole. */
  isHeld: boolean;
  /** Keeps a body that cannot be used; null: nobody does. */
  unusable: ((start: Buffer, isCut: boolean) => void) | null;
  /** The upload has failed. */
  bodyBroke(): void;
}

/** Requests that ended in this turn of the event loop. */
let ended: Exchange[] = [];

/**
 * Records the requests of one turn one after another, after their last bytes were written: no response waits for the
 * accounting of another, and doing the same work in a row costs 3 % less of a plain request.
 */
function finishEnded(): void {
  const exchanges = ended;
  ended = [];
  for (const exchange of exchanges) exchange.finish();
}

export class Exchange {
  readonly #ports: ExchangePorts;
  readonly #door: Door;
  readonly #trace: RequestTrace;
  #visits: Visit[] = [];
  #admitted: AdmittedRequest | null = null;
  #place: Place | undefined;
  #body: RequestBody | undefined;
  /** The body's share of the request's memory. */
  #bodyBytes = 0;
  /** Null while nobody is answering. */
  #answerer: Answerer | null = null;
  #reserved: Reserved | null = null;
  /** A hard budget applies, so that the reserved usage is recorded if the actual usage is unknown. */
  #mayCost = false;
  #hasBegun = false;
  #hasLeft = false;
  /** Why Sluice itself has ended the response. */
  #cutOff: GatewayError | null = null;
  /** It has answered with that. */
  #isRefused = false;
  #isOver = false;
  readonly #answeredBy = (answerer: Answerer): void => {
    this.#answerer = answerer;
  };

  constructor(ports: ExchangePorts, door: Door) {
    this.#ports = ports;
    this.#door = door;
    this.#trace = door.trace;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    try {
      await this.#serve();
    } catch (thrown) {
      this.#refuse(thrown);
    } finally {
      if (ended.push(this) === 1) setImmediate(finishEnded);
    }
  }

  /** The response has been sent, or the client is gone. */
  closed(): void {
    if (!this.#door.response.writableFinished) {
      this.#hasLeft = true;
      this.#answerer?.clientLeft();
    }
    if (this.#isOver) this.#place?.release();
  }

  /** Ends the response and tells the client why. Whoever is answering does that itself, after what the client has. */
  cutOff(error: GatewayError): void {
    if (this.#isOver || this.#door.response.writableEnded) return;
    this.#cutOff = error;
    if (this.#answerer?.cutOff(error)) return;
    this.#refuse(error);
    this.#isRefused = true;
  }

  /** Awaited only where there is a promise, since each costs a request as much as a look-up of its model. */
  async #serve(): Promise<void> {
    const door = this.#door;
    const { location } = door;
    const { limiter, prices, jobs } = this.#ports;

    // Admit: who asks for what, within what the machine can do at the same time.
    door.checkSender();
    const own = door.ownEndpoint();
    if (own) return this.#replied(await own(await this.#admit(null)));
    const match = door.findRoute();
    const admitting = this.#admit(match);
    const member = admitting instanceof Promise ? await admitting : admitting;
    this.#check(match, member);
    const entering = door.enter(member.key);
    const place = entering instanceof Promise ? await entering : entering;
    this.#place = place;
    // The body of a client that has left never ends.
    if (this.#hasLeft) throw new ClientGone();
    checkQuery(location.query, match.route);

    // Receive.
    const receiving = place.receive(match, member.group, this.#receiving());
    const call = this.#received(match, place, receiving instanceof Promise ? await receiving : receiving);

    // Answer from elsewhere: a fault on purpose, a recording, a response that Sluice has stored.
    const answering = oneAnswers(this.#visits, (visit) => visit.received?.(call));
    if (answering instanceof Promise ? await answering : answering) return;

    // Plan: which targets may answer.
    const { body } = call;
    const finding = findNamedObjects(jobs, { match, member, body, query: location.query });
    const named = finding instanceof Promise ? await finding : finding;
    const limited = this.#plan(match, member, body, named);

    // Limits: from here on the request counts towards them.
    const limiting = enforceLimits({ limiter, prices }, door.response, limited);
    if (limiting instanceof Promise) this.#ports.attempts.eventLoopMonitor.end();
    const reserved = this.#started(member, limiting instanceof Promise ? await limiting : limiting);
    if (this.#hasLeft) throw new ClientGone();

    // Attempts, unless Sluice counts tokens itself, or a companion has the answer.
    const { route } = match;
    const plan = route.writeTokenCount ? tokenCountPlan(limited.plan, route) : limited.plan;
    const count = plan ? null : estimatedTokenCount(door.response, route, body);
    if (count) {
      this.#reply(count);
      return;
    }
    const asked = this.#asked(call, member, { plan: plan ?? limited.plan, reserved });
    const looking = oneAnswers(this.#visits, (visit) => visit.planned?.(asked));
    if (looking instanceof Promise ? await looking : looking) return;
    await this.#ask(asked);
  }

  /** The key says who asks. Companions join the request; a promise is returned only if one of them takes time for that. */
  #admit(match: RouteMatch | null): MaybePromise<Member> {
    const key = this.#door.authenticate();
    this.#trace.key = key;
    const group = this.#door.snapshot.groupOf(key);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" names a group that is not there.`);
    const member = { group, key };
    const joining = this.#join(member, match);
    return joining ? joining.then(() => member) : member;
  }

  #join(member: Member, match: RouteMatch | null): Promise<void> | null {
    const { request, response, location, snapshot, trace } = this.#door;
    const { companions } = this.#ports;
    const admitted = { request, response, location, snapshot, trace, member, match, taps: [], outlet: null };
    this.#admitted = admitted;
    const joinFrom = (from: number): Promise<void> | null => {
      for (let index = from; index < companions.length; index++) {
        const visit = companions[index]?.admitted(admitted);
        if (visit instanceof Promise)
          return visit.then(async (joined) => {
            if (joined) this.#visits.push(joined);
            await joinFrom(index + 1);
          });
        if (visit) this.#visits.push(visit);
      }
      return null;
    };
    return joinFrom(0);
  }

  #check({ passthrough, route }: RouteMatch, member: Member): void {
    checkPath(this.#door.location.path, this.#trace.secrets);
    if (passthrough && !this.#visits.some(({ asksNobody }) => asksNobody))
      checkPassthrough({ passthroughMatch: passthrough, route, ...member });
  }

  #receiving(): Receiving {
    const keeper = this.#visits.find(({ unusable }) => unusable);
    return {
      isHeld: this.#visits.some(({ needsWholeBody }) => needsWholeBody),
      unusable: keeper ? (start, isCut) => keeper.unusable?.(start, isCut) : null,
      // Stops the attempts as if the client had left, but still sends it an error.
      bodyBroke: () => this.#answerer?.clientLeft(),
    };
  }

  #received(match: RouteMatch, place: Place, body: RequestBody): ReceivedCall {
    const { memory } = place;
    const call = {
      match,
      body,
      memory,
      hasLeft: () => this.#hasLeft,
      readJson: (bytes: Buffer, continuesId: string | undefined) => place.readJson(bytes, continuesId),
      replaceBody: (whole: RequestBody) => {
        memory.add(whole.size - call.body.size);
        call.body = whole;
        this.#noteBody(whole, memory.bytes);
      },
      answeredBy: this.#answeredBy,
      reply: (answer: object) => this.#reply(answer),
    };
    this.#noteBody(body, memory.bytes);
    return call;
  }

  #noteBody(body: RequestBody, bytes: number): void {
    this.#body = body;
    this.#bodyBytes = bytes;
    this.#trace.bytesIn = body.size;
    this.#trace.stream = body.fields.stream;
  }

  #plan(match: RouteMatch, member: Member, body: RequestBody, named: NamedObjects): LimitedCall {
    const { model } = fieldsOf(match, body);
    this.#trace.model = model;
    if (model !== null) checkName('model', model, this.#trace.secrets);
    const { jobs, holder, sizeAt } = named;
    const plan = planRoute({ match, member, body, snapshot: this.#door.snapshot, jobs, holder });
    this.#trace.model = plan.model;
    this.#trace.job = plan.job ?? null;
    const call = { requestId: this.#trace.id, route: match.route, ...member, body, sizeAt, plan };
    return { ...call, plan: pricedTargets(this.#ports.prices, call) };
  }

  #started(member: Member, reserved: Reserved | null): Reserved | null {
    this.#reserved = reserved;
    this.#mayCost = hardBudgetOf(member) !== null;
    this.#ports.started(this.#trace.started, reserved);
    this.#hasBegun = true;
    this.#ports.attempts.eventLoopMonitor.end();
    return reserved;
  }

  #asked(
    { match, body, memory }: ReceivedCall,
    { group }: Member,
    { plan, reserved }: Pick<PlannedCall, 'plan' | 'reserved'>,
  ): PlannedCall {
    if (this.#cutOff) throw this.#cutOff;
    const { request, location } = this.#door;
    const { secrets } = this.#trace;
    const call = {
      match,
      group,
      body,
      memory,
      headers: passableHeaders(request.headers, secrets),
      path:
        match.id !== null && plan.upstreamId
          ? withSegment(location.path, match.openSegment, plan.upstreamId)
          : location.path,
      query: outgoingQuery(location.query, secrets),
    };
    return { plan, call, reserved, answeredBy: this.#answeredBy };
  }

  /** Resolves when the client has its response or has left. */
  #ask({ plan, call }: PlannedCall): Promise<void> {
    const { request, response, snapshot, trace } = this.#door;
    const { taps = [], outlet = null } = this.#admitted ?? {};
    const { attempts: ports } = this.#ports;
    const visits = this.#visits;
    const options = {
      ports,
      request,
      response,
      settings: snapshot.settings,
      trace,
      visits,
      tap: joinTaps(taps),
      outlet,
    };
    const attempts = new Attempts(options, plan, call);
    this.#answerer = attempts;
    return attempts.run();
  }

  #reply(answer: object): true {
    this.#replied(sendJson(this.#door.response, answer, this.#trace.id));
    return true;
  }

  /** This is recorded, too, because a provider may have been asked for it. */
  #replied(reply: LocalReply): void {
    for (const visit of this.#visits) visit.replied?.(reply, false);
    this.#trace.answered(reply);
  }

  #refuse(thrown: unknown): void {
    if (this.#isRefused) return;
    if (thrown instanceof ClientGone || this.#hasLeft) {
      this.#trace.response = { ...this.#trace.response, outcome: 'client-gone' };
      return;
    }
    const error = toGatewayError(thrown);
    if (error.code === 'internal') this.#ports.attempts.reportError(thrown);
    // If it was refused before authentication, the key decides whether the ledger gets a row.
    if (!this.#trace.key) this.#joinRefused();
    const { api, path, isKnown } = this.#door.location;
    if (this.#trace.path === '') this.#trace.unserved(`${isKnown ? api.base : ''}${path}`);
    const reply = this.#door.refuse(error);
    this.#trace.refused(error, api.statusOf(error), reply);
    if (reply) for (const visit of this.#visits) visit.replied?.(reply, true);
  }

  #joinRefused(): void {
    const key = this.#door.validKey();
    const group = key && this.#door.snapshot.groupOf(key);
    if (!key || !group) return;
    this.#trace.key = key;
    this.#join({ group, key }, null);
  }

  /** Records the request, even if it was never planned, and frees its memory and place. */
  finish(): void {
    const { eventLoopMonitor, reportError } = this.#ports.attempts;
    eventLoopMonitor.begin(this.#trace);
    const body = this.#body;
    // A streamed body is complete by now.
    if (body) this.#trace.bytesIn = body.size;
    try {
      this.#record(body);
    } catch (error) {
      reportError(error);
    } finally {
      body?.dispose();
      eventLoopMonitor.end();
      // The client may take a while to read the response; nothing of the request must stay in memory for that.
      this.#body = undefined;
      this.#answerer = null;
      this.#visits = [];
      this.#place?.memory.add(-this.#bodyBytes);
      this.#isOver = true;
      if (this.#door.response.closed) this.#place?.release();
    }
  }

  #record(body: RequestBody | undefined): void {
    const { prices, finished } = this.#ports;
    const unfetchable = this.#reserved?.usage ?? null;
    const reserved = this.#mayCost ? unfetchable : null;
    const ending: Ending = { accounting: accountFor(this.#trace, body, { prices, reserved, unfetchable }) };
    for (const visit of this.#visits) visit.answered?.(ending);
    const record = this.#trace.record(this.#door.request, ending.accounting);
    const hasRow = finished(record, { hasBegun: this.#hasBegun, books: ending.books });
    for (const visit of this.#visits) visit.ended?.(record, hasRow);
  }
}
