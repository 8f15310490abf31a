/**
 * Runs the attempts of one request and brings the response of one of them, or an error, to the client. `AttemptPlan`
 * decides which attempts are made; this class makes them.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StreamText } from '../../apis/core/stream-text.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import type { EventLoopMonitor } from '../../ground/event-loop-monitor.ts';
import { replaceTraceHeaders } from '../../observability/request-tracing.ts';
import type { NextAttempt } from '../../routing/attempt-plan.ts';
import type { AttemptResult, FailureResponse } from '../../routing/attempt-result.ts';
import type { AttemptTimeouts } from '../../routing/compile-timeouts.ts';
import type { ToldLimits } from '../../routing/health/told-limits.ts';
import { onlyTarget } from '../../routing/only-target.ts';
import type { Picker } from '../../routing/picker.ts';
import { type RunningAttempt, runAttempts } from '../../routing/run-attempts.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { OutgoingRequest, ResponseHeaders, Transport } from '../../transport/transport.ts';
import { cutBySluice, otherApi, refusedRedirect, untranslatable } from '../answer/attempt-failures.ts';
import { type ClientResponse, drainMs, type ResponseOutlet } from '../answer/client-response.ts';
import { createClientResponse } from '../answer/create-client-response.ts';
import type { Visit } from '../course/companion.ts';
import { outgoingRequest, timeoutsFor } from '../outgoing/outgoing-request.ts';
import { type PreparationPorts, RequestPreparation } from '../outgoing/prepare-request.ts';
import { createAttemptPlan } from '../plan/create-attempt-plan.ts';
import type { CallPlan } from '../plan/plan.ts';
import { Download } from '../readers/download.ts';
import type { ClientResponseTap } from '../record/client-response-tap.ts';
import type { AttemptTrace, RequestTrace } from '../record/exchange-trace.ts';
import type { UpstreamResponseObserver } from '../record/upstream-response-observer.ts';
import { secretsOf } from '../redact/redact-credential.ts';
import { IdempotencyKeys } from '../request/idempotency-keys.ts';
import { type NonRepeatable, nonRepeatableKindOf } from '../request/non-repeatable.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { AnswerTranslation } from '../translation/answer-translation.ts';
import type { EarlierParts, PreparedRequest } from '../translation/request-translation.ts';
import { Attempt } from './attempt.ts';
import { inBatches } from './batched-call.ts';
import { type MissingRest, mayBeRescued, mayBeResumed, requestFactsOf } from './choose-reader.ts';
import { followContent, shownLocation } from './content-redirect.ts';
import { reportFailure } from './report-failure.ts';
import { CorrectedClocks, signRequest } from './sign-request.ts';
import { estimateOnFailure } from './token-count.ts';
import { TranslatedText, translatedText } from './translated-text.ts';

/** The engine's services that a request's attempts need. */
export interface UpstreamAttemptsPorts extends PreparationPorts {
  transport: Transport;
  picker: Picker;
  /** Keeps what providers say of their own limits. */
  toldLimits: Pick<ToldLimits, 'note'>;
  eventLoopMonitor: EventLoopMonitor;
  /** Called for internal errors. */
  reportError(error: unknown): void;
}

/** One request, whose attempts are made. */
interface UpstreamAttemptsOptions {
  ports: UpstreamAttemptsPorts;
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

export class UpstreamAttempts {
  readonly client: ClientResponse;
  readonly #options: UpstreamAttemptsOptions;
  readonly #callPlan: CallPlan;
  readonly #call: OutgoingCall;
  readonly #preparation: RequestPreparation;
  /** All attempts; those that have ended ignore calls. */
  readonly #attempts: Attempt[] = [];
  #clientGone: PromiseWithResolvers<void> | undefined;
  /** Null if no other target may continue a broken stream. */
  readonly #text: StreamText | null;
  /** Null if a broken download cannot be resumed. */
  readonly #download: Download | null;
  #answer: Attempt | undefined;
  /** The translation that produced the client's answer so far; null if its bytes are an upstream's own. */
  #translation: AnswerTranslation | null = null;
  /** The client has the beginning of an answer, and no attempt is delivering the rest yet. */
  #isBroken = false;
  /** Targets whose text differed from the broken stream, but which can be asked to continue it. */
  #continuing: Set<Target> | undefined;
  readonly #clocks = new CorrectedClocks();
  #hasLeft = false;
  /** Why Sluice itself has ended the response. */
  #cutOff: GatewayError | null = null;
  readonly #once: NonRepeatable | null;
  readonly #picker: Picker;
  /** Null unless the request is a purchase that may be repeated; what is passed through never is. */
  readonly #idempotencyKeys: IdempotencyKeys | null;

  constructor(options: UpstreamAttemptsOptions, callPlan: CallPlan, call: OutgoingCall) {
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
    this.#text = mayBeRescued(callPlan, call) ? (call.match.route.wire.rescue?.openText() ?? null) : null;
    this.#download = mayBeResumed(call, options.request) ? new Download() : null;
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
        isBroken: this.#isBroken,
        text: this.#translation ? new TranslatedText(this.#translation) : this.#text,
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
    if (this.#isBroken && !this.#continues(usual.translation)) return untranslatable(otherApi(target), trace.record);
    const prepared = this.#continuing?.has(target)
      ? await this.#preparation.continued(usual, target, this.#text?.read() ?? null)
      : usual;
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
    const rest = this.#download?.restHeaders();
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
    this.#learn(target, result);
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

  /** A translated answer can only be continued by another translated one, and an unchanged one only by another unchanged one. */
  #continues(translation: AnswerTranslation | null): boolean {
    const brokenTranslation = this.#translation;
    if (translation && brokenTranslation) translation.continue(brokenTranslation);
    return (translation === null) === (brokenTranslation === null);
  }

  #isTooLate({ record }: AttemptTrace): boolean {
    if (!this.#hasLeft && !this.#answer) return false;
    record.failure = this.#cutOff ? null : 'client-gone';
    return true;
  }

  #learn(target: Target, result: AttemptResult): void {
    if (result.kind === 'broken') {
      this.#isBroken = true;
      this.#answer = undefined;
    } else if (result.kind === 'failed' && result.failure.continues) {
      this.#continuing ??= new Set();
      this.#continuing.add(target);
    }
  }

  #openAttempt(next: NextAttempt, timeouts: AttemptTimeouts, trace: AttemptTrace, prepared: PreparedRequest): Attempt {
    const { sendable, translation, hosting, losses } = prepared;
    const { match, body, memory } = this.#call;
    const route = translation ? translation.upstream : match.route;
    if (translation) trace.usage = route.wire.usage;
    trace.lossesFrom = translation ?? prepared;
    const isStreamFit = body.fields.stream;
    const rest = translation ? null : this.#rest(next, trace);
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
        stripUsage: sendable.usageAsked || (rest !== null && !wantsUsage()),
        text: translation ? translatedText(translation, this.#callPlan, this.#call) : this.#text,
        rest,
        download: this.#download,
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

  #rest(next: NextAttempt, trace: AttemptTrace): MissingRest | null {
    const soFar = this.#isBroken ? this.#text?.read() : null;
    if (!soFar) return null;
    return {
      soFar,
      isContinuation: this.#continuing?.has(next.target) ?? false,
      foundAs: (upstreamId) => {
        if (soFar.storedId === undefined || !this.#call.body.fields.store) return;
        trace.made?.completed(soFar.storedId, upstreamId);
      },
    };
  }

  /** The first attempt with content is the answer. */
  #claim(attempt: Attempt, trace: AttemptTrace, next: NextAttempt, prepared: PreparedRequest): boolean {
    if (this.#answer) return false;
    if (attempt.status < 400) {
      this.#picker.answers(next.target, next.credential?.id ?? null);
      this.#preparation.answered(next.target);
    }
    this.#answer = attempt;
    this.#translation = prepared.translation;
    this.#options.trace.answering = trace;
    for (const other of this.#attempts) if (other !== attempt) other.giveUp();
    return true;
  }

  /** Observes the response for the id of a new job, or for reasoning that its provider will want back. */
  #observer(trace: AttemptTrace, next: NextAttempt, isTranslated: boolean): UpstreamResponseObserver | null {
    // The rest of a response has the id of the first one, which its upstream does not know. Upstreams are asked not to
    // store translated requests.
    if (this.#isBroken || isTranslated) return null;
    return trace.made?.observer() ?? this.#preparation.reasoningObserver(next.target);
  }
}
