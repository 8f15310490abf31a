/**
 * Retries and hedging: runs a request's attempts one after the other, or a second one in parallel with a slow one (hedging, trials),
 * and brings the response of one of them, or an error, to the client. `runAttempts` is the loop, `AttemptPlan` decides which comes
 * next, and `Attempts` makes those of an HTTP request.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Failure } from '../../apis/core/errors/verdict.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { AttemptRecord, FailureClass } from '../../contract/ledger.ts';
import type { Settings } from '../../contract/settings.ts';
import type { EventLoopMonitor } from '../../ground/event-loop-monitor.ts';
import { AwakeTimer, awakeMs } from '../../ground/timers.ts';
import { replaceTraceHeaders } from '../../observability/request-tracing.ts';
import { AttemptPlan, type NextAttempt } from '../../routing/attempt-plan.ts';
import {
  type AttemptResult,
  errorOfHeldBack,
  errorOfRefusal,
  type FailedAttempt,
  type FailureResponse,
  moreUseful,
} from '../../routing/attempt-result.ts';
import type { ToldLimits } from '../../routing/health/told-limits.ts';
import { onlyTarget, type Picker, type PickRequest } from '../../routing/picker.ts';
import type { AttemptTimeouts } from '../../routing/snapshot.ts';
import type { OutgoingRequest, ResponseHeaders, Transport } from '../../transport/transport.ts';
import { cutBySluice, otherApi, refusedRedirect, reportFailure, untranslatable } from '../answer/attempt-failures.ts';
import { type ClientResponse, createClientResponse, drainMs, type ResponseOutlet } from '../answer/client-response.ts';
import type { Visit } from '../course/companion.ts';
import { outgoingRequest, timeoutsFor } from '../outgoing/outgoing-request.ts';
import { type PreparationPorts, RequestPreparation } from '../outgoing/prepare-request.ts';
import type { CallPlan } from '../plan/plan.ts';
import { policyOf } from '../plan/plan-route.ts';
import type { AttemptTrace, RequestTrace } from '../record/exchange-trace.ts';
import type { ClientResponseTap, UpstreamResponseObserver } from '../record/response-taps.ts';
import { secretsOf } from '../redact/redact-credential.ts';
import {
  IdempotencyKeys,
  type NonRepeatable,
  nonRepeatableKindOf,
  type OutgoingCall,
} from '../request/outgoing-call.ts';
import { Rescue } from '../rescue/rescue.ts';
import type { EarlierParts, PreparedRequest } from '../translation/request-translation.ts';
import { Attempt } from './attempt.ts';
import { inBatches } from './batched-call.ts';
import { requestFactsOf } from './choose-reader.ts';
import { followContent, shownLocation } from './content-redirect.ts';
import { CorrectedClocks, signRequest } from './sign-request.ts';
import { estimateOnFailure } from './token-count.ts';

/** A running attempt. */
export interface RunningAttempt {
  result: Promise<AttemptResult>;
  record: AttemptRecord;
  /** Whether any of its answer has been sent. A method, since a getter on an object literal costs V8 a map for each attempt. */
  hasBegun(): boolean;
}

interface AttemptsInput {
  plan: AttemptPlan;
  picker: Picker;
  start(next: NextAttempt): RunningAttempt;
  /** Resolves when the client has disconnected; called only if an attempt has to wait. */
  gone(): Promise<void>;
}

type Outcome =
  | { kind: 'answered' | 'given-up' }
  /** The error to send, instead of an answer or after its beginning. */
  | { kind: 'unanswered'; failureResponse: FailureResponse };

/** @throws GatewayError `no_healthy_provider` if there is no target */
export async function runAttempts(input: AttemptsInput): Promise<Outcome> {
  const { plan } = input;
  let next = plan.first();
  if (!next) return unasked(plan);
  let mostUseful: FailedAttempt | null = null;
  while (next) {
    if (next.waitMs > 0 && !(await waitUnlessEnded(next.waitMs, input.gone()))) return { kind: 'given-up' };
    const { ended, result, beside: hedged } = await ask(input, next);
    if (!isFailed(result)) return { kind: result.kind };
    if (hedged) mostUseful = moreUseful(mostUseful, hedged);
    mostUseful = moreUseful(mostUseful, result);
    if (result.kind === 'broken') plan.streamInterrupted(ended);
    next = mostUseful.kind === 'broken' ? plan.rescue(ended, result.failure) : plan.after(ended, result.failure);
  }
  if (!mostUseful) throw new Error('unreachable: the loop ended without a failure');
  return { kind: 'unanswered', failureResponse: mostUseful.failureResponse };
}

/** Answers in place of a provider whose credentials were refused a moment ago, or that has asked to be left alone. */
function unasked({ refusal }: AttemptPlan): Outcome {
  if (!refusal) throw new GatewayError('no_healthy_provider', 'There is no provider to ask.');
  const { reason, target, waitMs } = refusal;
  const error = reason === 'limit' ? errorOfHeldBack(target, waitMs) : errorOfRefusal(target, waitMs);
  return { kind: 'unanswered', failureResponse: { kind: 'error', error } };
}

interface EndedAttempt {
  ended: NextAttempt;
  result: AttemptResult;
  /** The failure of the other attempt, if two ran in parallel and both failed. */
  beside?: FailedAttempt;
}

function ask(input: AttemptsInput, next: NextAttempt): Promise<EndedAttempt> {
  const { hedgeAfterMs, isTrial } = input.plan.hedgingFor(next);
  const first = begin(input, next, isTrial);
  return hedgeAfterMs === 0 ? first.ended : hedge(input, first, hedgeAfterMs);
}

/** Asks another target in parallel once the first has been silent for this long. */
async function hedge(input: AttemptsInput, first: StartedAttempt, hedgeAfterMs: number): Promise<EndedAttempt> {
  if (!(await isSlow(first, hedgeAfterMs))) return first.ended;
  const further = input.plan.anotherTarget('hedge');
  if (!further) return first.ended;
  const attempts = await Promise.all([first.ended, begin(input, further, false).ended]);
  // Once one of the two has begun to answer, the other is cancelled.
  const begun = attempts.find(({ result }) => result.kind === 'answered' || result.kind === 'broken');
  if (begun) return begun;
  const [one, other] = attempts;
  if (!isFailed(one.result) || !isFailed(other.result)) return isFailed(one.result) ? one : other;
  input.plan.note(one.ended, one.result.failure);
  return { ...other, beside: one.result };
}

interface StartedAttempt {
  attempt: RunningAttempt;
  ended: Promise<EndedAttempt>;
}

type FailureDetails = Pick<Failure, 'retryAfterMs' | 'fault' | 'isAnswer' | 'isDenied'>;
const noDetails: FailureDetails = { retryAfterMs: null };

function begin({ picker, start }: AttemptsInput, next: NextAttempt, isTrial: boolean): StartedAttempt {
  const { target } = next;
  const credentialId = next.credential?.id ?? null;
  picker.began(target, credentialId);
  const attempt = start(next);
  const report = (failure: FailureClass | null, details: FailureDetails = noDetails) => {
    const { retryAfterMs, fault = null, isAnswer = false, isDenied = false } = details;
    const { firstByteMs, status } = attempt.record;
    const failedWith = failure === null ? null : (status ?? fault);
    picker.report({ target, credentialId, failure, failedWith, isDenied, isAnswer, firstByteMs, retryAfterMs });
  };
  const ended = attempt.result.then(
    (result) => {
      if (isFailed(result)) report(aboutHealth(result.failure), result.failure);
      else if (result.kind === 'answered') report(result.failure);
      // A target on trial that was overtaken was silent again; otherwise being overtaken says nothing about its health.
      else report(isTrial && attempt.record.failure === null ? 'silent' : 'client-gone');
      return { ended: next, result };
    },
    (fault) => {
      report('client-gone');
      throw fault;
    },
  );
  return { attempt, ended };
}

/**
 * A missing permission for one kind of request, a wrong clock, a model that cannot write its call, or a connection that was
 * closed between two requests says nothing about the health of credential and target.
 */
function aboutHealth(failure: Failure): FailureClass {
  const { lacksOneRight, isClockCorrected, isMalformedCall, isStale } = failure;
  return lacksOneRight || isClockCorrected || isMalformedCall || isStale ? 'rejected' : failure.class;
}

/** Whether an attempt has neither ended nor begun to answer within this time. */
async function isSlow({ attempt, ended }: StartedAttempt, afterMs: number): Promise<boolean> {
  const hasEnded = await waitUnlessEnded(afterMs, ended).then((isLate) => !isLate);
  return !hasEnded && !attempt.hasBegun();
}

/** Waits; false if `end` settles first. */
async function waitUnlessEnded(waitMs: number, end: Promise<unknown>): Promise<boolean> {
  let timer: AwakeTimer | undefined;
  const passed = new Promise<true>((resolve) => {
    timer = new AwakeTimer(() => resolve(true), waitMs);
  });
  try {
    return await Promise.race([passed, end.then(() => false)]);
  } finally {
    timer?.clear();
  }
}

function isFailed(result: AttemptResult): result is FailedAttempt {
  return result.kind === 'failed' || result.kind === 'broken';
}

/** The engine's services that a request's attempts need. */
export interface AttemptsPorts extends PreparationPorts {
  transport: Transport;
  picker: Picker;
  /** Keeps what providers say of their own limits. */
  toldLimits: Pick<ToldLimits, 'note'>;
  eventLoopMonitor: EventLoopMonitor;
  /** Called for internal errors. */
  reportError(error: unknown): void;
}

/** One request, whose attempts are made. */
interface AttemptsOptions {
  ports: AttemptsPorts;
  request: IncomingMessage;
  response: ServerResponse;
  settings: Settings;
  trace: RequestTrace;
  visits: readonly Visit[];
  /** Observes the client's response; null if nothing does. */
  tap: ClientResponseTap | null;
  /** What the client's response is written to; null: its socket. */
  outlet: ResponseOutlet | null;
}

/** The attempts of one request. */
export class Attempts {
  readonly client: ClientResponse;
  readonly #options: AttemptsOptions;
  readonly #callPlan: CallPlan;
  readonly #call: OutgoingCall;
  readonly #preparation: RequestPreparation;
  /** All attempts; those that have ended ignore calls. */
  readonly #attempts: Attempt[] = [];
  #clientGone: PromiseWithResolvers<void> | undefined;
  readonly #rescue: Rescue;
  #answer: Attempt | undefined;
  readonly #clocks = new CorrectedClocks();
  #hasLeft = false;
  /** Why Sluice itself has ended the response. */
  #cutOff: GatewayError | null = null;
  readonly #once: NonRepeatable | null;
  readonly #picker: Picker;
  /** Null unless the request is a purchase that may be repeated; what is passed through never is. */
  readonly #idempotencyKeys: IdempotencyKeys | null;

  constructor(options: AttemptsOptions, callPlan: CallPlan, call: OutgoingCall) {
    this.#options = options;
    this.#callPlan = callPlan;
    this.#call = call;
    this.#preparation = new RequestPreparation(options, callPlan, call);
    this.client = createClientResponse(options, call);
    this.#once = nonRepeatableKindOf(options.request, call);
    const { passthrough, route } = call.match;
    // A service that fails to count tokens may still answer conversations.
    this.#picker = passthrough || route.writeTokenCount ? onlyTarget(options.ports.picker) : options.ports.picker;
    const mayBeRepeated = this.#once === 'purchase' && call.match.passthrough === null;
    this.#idempotencyKeys = mayBeRepeated ? new IdempotencyKeys() : null;
    this.#rescue = new Rescue(callPlan, call, options.request.method);
  }

  /**
   * Resolves when the client has its response or has left, which the trace then records. Throws GatewayError if nothing was
   * sent and Sluice has to state the reason.
   */
  async run(): Promise<void> {
    const { match, body } = this.#call;
    const { stream } = match.route;
    if (body.fields.stream && stream) this.client.keepAlive(stream.mayBeginEarly);
    try {
      const nearing = this.#preparation.prefetchReasoning();
      if (nearing) await nearing;
      const ports = { picker: this.#picker, request: this.#preparation.pickRequest };
      const plan = createAttemptPlan(this.#callPlan, this.#call, ports);
      const outcome = await runAttempts({
        plan,
        picker: this.#picker,
        start: (next) => this.#start(next, timeoutsFor(this.#call, next.target, plan)),
        gone: () => this.#whenGone(),
      });
      if (outcome.kind === 'unanswered') this.#reportFailure(outcome.failureResponse);
      else if (outcome.kind === 'given-up' && this.#cutOff && !this.#answer)
        this.#reportFailure({ kind: 'error', error: this.#cutOff });
      if (body.fault) throw body.fault;
    } finally {
      this.client.stop();
      this.#options.trace.response = this.client.summary;
    }
  }

  /** No target has answered completely. */
  #reportFailure(failureResponse: FailureResponse): void {
    const { response, trace } = this.#options;
    const count = estimateOnFailure(failureResponse, response, this.#call);
    if (count) this.client.sendJson(count);
    else
      reportFailure(failureResponse, {
        client: this.client,
        stream: this.#call.match.route.stream,
        isBroken: this.#rescue.isBroken,
        text: this.#rescue.text,
        attempts: trace.attempts.length,
      });
  }

  clientLeft(): void {
    this.#hasLeft = true;
    const { group, match } = this.#call;
    // Passthrough responses report no usage.
    const mayDrain = group.policy.onClientGone === 'drain' && match.passthrough === null;
    for (const attempt of this.#attempts) attempt.clientLeft(mayDrain ? drainMs : 0);
    this.client.left();
    this.#clientGone?.resolve();
  }

  /** Sluice itself ends the response. The answering attempt tells the client why; without one, `run` does. */
  cutOff(error: GatewayError): true {
    this.#hasLeft = true;
    for (const attempt of this.#attempts) attempt.cutOff(error);
    const cutRequest = { once: this.#once, trace: this.#options.trace, plan: this.#callPlan };
    this.#cutOff = this.#answer ? error : cutBySluice(error, cutRequest);
    this.#clientGone?.resolve();
    return true;
  }

  /** Created lazily, for attempts that wait before they begin. */
  #whenGone(): Promise<void> {
    this.#clientGone ??= Promise.withResolvers<void>();
    if (this.#hasLeft) this.#clientGone.resolve();
    return this.#clientGone.promise;
  }

  #start(next: NextAttempt, timeouts: AttemptTimeouts): RunningAttempt {
    const { trace: request, visits } = this.#options;
    const trace = request.attempt(next.target, next.credential?.id ?? null, next.cause);
    for (const visit of visits) visit.sent?.(trace, next);
    return { record: trace.record, result: this.#attempt(next, timeouts, trace), hasBegun: () => trace.hasBegun };
  }

  async #attempt(next: NextAttempt, timeouts: AttemptTimeouts, trace: AttemptTrace): Promise<AttemptResult> {
    const { target, credential } = next;
    // Awaited only if it is a promise: each promise costs a request as much as a look-up of its model.
    const preparing = this.#preparation.for(next);
    const usual = preparing instanceof Promise ? await preparing : preparing;
    if (usual instanceof GatewayError) return untranslatable(usual, trace.record);
    if (!this.#rescue.mayContinue(usual.translation)) return untranslatable(otherApi(target), trace.record);
    const soFar = this.#rescue.soFarFor(target);
    const prepared = soFar ? await this.#preparation.continued(usual, target, soFar) : usual;
    if (this.#isTooLate(trace)) return { kind: 'given-up' };
    let attempt: Attempt | undefined;
    let transport: Pick<Transport, 'send'> = this.#options.ports.transport;
    const send = (request: OutgoingRequest) => {
      trace.tap?.sending(request, prepared.sendable);
      attempt = this.#openAttempt(next, timeouts, trace, prepared);
      return attempt.send(transport, request);
    };
    const { call, sendable } = prepared;
    const request = outgoingRequest(this.#options.request, call, { target, credential, sendable, timeouts });
    if (trace.traceHeaders !== null) replaceTraceHeaders(request.headers, trace.traceHeaders);
    this.#idempotencyKeys?.addTo(request.headers, next);
    if (prepared.earlier) transport = this.#inBatches(prepared.earlier, request, next, trace);
    if (credential?.signing) {
      const signingFailure = await signRequest(request, next, this.#options.ports.transport, trace.record);
      if (signingFailure || this.#isTooLate(trace)) return signingFailure ?? { kind: 'given-up' };
    }
    const rest = this.#rescue.restHeaders();
    if (rest) Object.assign(request.headers, rest);
    let result = await send(request);
    if (call.match.route.content) result = await followContent(result, request, { ...call.headers, ...rest }, send);
    if (result.kind === 'redirected') {
      const secrets = secretsOf(this.#options.trace.secrets, credential);
      return refusedRedirect(target, shownLocation(result.location, secrets), {
        record: trace.record,
        isPurchase: this.#once === 'purchase',
      });
    }
    if (result.kind === 'broken') this.#answer = undefined;
    this.#rescue.learn(target, result);
    if (result.kind !== 'failed') return result;
    if (result.failure.isLost && this.#once === 'purchase' && !prepared.translation)
      trace.made?.cut(trace.excerpt.kept(trace.responseType));
    if (attempt) result = this.#clocks.noted(result, next.credential, request.headers, attempt.headers);
    return this.#preparation.noted(target, result, prepared);
  }

  #inBatches(earlier: EarlierParts, request: OutgoingRequest, next: NextAttempt, trace: AttemptTrace) {
    const { transport } = this.#options.ports;
    // Without a signature, and without a key that would make every part a repetition of the first.
    const { 'idempotency-key': _, ...headers } = request.headers;
    return inBatches(transport, {
      bodies: earlier.bodies,
      async requestWith(body) {
        const part = { ...request, body, headers: { ...headers, 'content-length': String(body.length) } };
        Object.assign(part.headers, await next.credential?.signing?.headersFor(part, transport));
        return part;
      },
      async take(answer) {
        const taken = await earlier.take(answer);
        trace.earlierPromptTokens += taken?.promptTokens ?? 0;
        return taken !== null;
      },
    });
  }

  #isTooLate({ record }: AttemptTrace): boolean {
    if (!this.#hasLeft && !this.#answer) return false;
    record.failure = this.#cutOff ? null : 'client-gone';
    return true;
  }

  #openAttempt(next: NextAttempt, timeouts: AttemptTimeouts, trace: AttemptTrace, prepared: PreparedRequest): Attempt {
    const { sendable, translation, hosting, losses } = prepared;
    const { match, body, memory } = this.#call;
    const route = translation ? translation.upstream : match.route;
    if (translation) trace.usage = route.wire.usage;
    trace.lossesFrom = translation ?? prepared;
    const isStreamFit = body.fields.stream;
    const rescue = this.#rescue.needsOf(next.target, translation, trace);
    const wantsUsage = () => translation !== null || route.wire.request.wantsUsage(body);
    const attempt: Attempt = new Attempt({
      client: this.client,
      trace,
      request: this.#options.trace,
      eventLoopMonitor: this.#options.ports.eventLoopMonitor,
      target: next.target,
      secrets: secretsOf(this.#options.trace.secrets, next.credential),
      memory,
      facts: requestFactsOf(body, route, this.#options.request.method, { translation, hosting }),
      once: this.#once,
      hosting,
      losses,
      translation,
      wantsUsage,
      needs: {
        isStreamFit,
        answers: isStreamFit ? route.wire.request.answersAsked(body) : 1,
        // A rest is Sluice's own composition: it has no usage that a service sends without being asked, such as Mistral.
        stripUsage: sendable.usageAsked || (rescue.rest !== null && !wantsUsage()),
        ...rescue,
      },
      timeouts,
      number: this.#options.trace.attempts.length,
      answered: (headers) => this.#noteLimits(next, headers),
      reportError: this.#options.ports.reportError,
      claim: () => this.#claim(attempt, trace, next, prepared),
      observer: () => this.#observer(trace, next, translation !== null),
    });
    this.#attempts.push(attempt);
    return attempt;
  }

  #noteLimits({ target, credential }: NextAttempt, headers: ResponseHeaders): void {
    this.#options.ports.toldLimits.note(target.provider.id, credential?.id ?? null, headers);
  }

  /** The first attempt with content is the answer. */
  #claim(attempt: Attempt, trace: AttemptTrace, next: NextAttempt, prepared: PreparedRequest): boolean {
    if (this.#answer) return false;
    if (attempt.status < 400) {
      this.#picker.answers(next.target, next.credential?.id ?? null);
      this.#preparation.answered(next.target);
    }
    this.#answer = attempt;
    this.#rescue.answers(prepared.translation);
    this.#options.trace.answering = trace;
    for (const other of this.#attempts) if (other !== attempt) other.giveUp();
    return true;
  }

  /** Observes the response for the id of a new job, or for reasoning that its provider will want back. */
  #observer(trace: AttemptTrace, next: NextAttempt, isTranslated: boolean): UpstreamResponseObserver | null {
    // The rest of a response has the id of the first one, which its upstream does not know. Upstreams are asked not to
    // store translated requests.
    if (this.#rescue.isBroken || isTranslated) return null;
    return trace.made?.observer() ?? this.#preparation.reasoningObserver(next.target);
  }
}

interface PlanPorts {
  picker: Picker;
  request: PickRequest;
}

/** The order of a call's attempts, within its group's policy. */
function createAttemptPlan({ targets, credentialId }: CallPlan, call: OutgoingCall, ports: PlanPorts): AttemptPlan {
  return new AttemptPlan({
    ...ports,
    targets,
    credentialId,
    policy: policyOf(call),
    now: awakeMs,
    random: Math.random,
  });
}
