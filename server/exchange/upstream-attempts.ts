/**
 * Runs the attempts of one request and brings the response of one of them, or an error, to the client. `AttemptPlan`
 * decides which attempts are made; this class makes them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { awakeMs } from '../awake-clock.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Policy } from '../contract/policy.ts';
import type { Settings } from '../contract/settings.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { LoopWatch } from '../loop-watch.ts';
import { isPathSegment } from '../providers/path-segment.ts';
import { AttemptPlan, type NextAttempt } from '../routing/attempt-plan.ts';
import type { AttemptResult, LastWord } from '../routing/attempt-result.ts';
import { redirectFailure } from '../routing/classify-failure.ts';
import { type AttemptTimeouts, compileTimeouts } from '../routing/compile-timeouts.ts';
import { errorBodyOf, errorCodeOf, errorOfRedirect } from '../routing/last-word.ts';
import { onlyTarget } from '../routing/only-target.ts';
import type { Picker } from '../routing/picker.ts';
import { type RunningAttempt, runAttempts } from '../routing/run-attempts.ts';
import type { Target } from '../routing/snapshot.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import type { PriceTable } from '../usage/price-table.ts';
import type { Registry } from '../wire/registry.ts';
import { framingOf } from '../wire/sse-framing.ts';
import type { StreamText } from '../wire/stream-text.ts';
import { Attempt } from './attempt.ts';
import type { Capture } from './capture.ts';
import { mayBeRescued, mayBeResumed, type WantedRest } from './choose-reader.ts';
import { ClientResponse } from './client-response.ts';
import { followContent, withoutSignature } from './content-redirect.ts';
import { mayBeEstimated, tokenCount } from './count-tokens.ts';
import type { AttemptTrace, RequestTrace } from './exchange-trace.ts';
import { madeWatcher } from './made-watcher.ts';
import { type OutgoingCall, outgoingRequest } from './outgoing-request.ts';
import type { CallPlan } from './plan.ts';
import { notedText, redactText, secretsOf } from './redact-credential.ts';
import type { PreparedBody, Sendable } from './request-body.ts';
import { Download } from './rescue/download.ts';
import type { ResponseObserver } from './response-observer.ts';
import type { AnswerTranslation } from './translation/answer-translation.ts';
import { type Passage, passageTo } from './translation/passage.ts';
import { RequestTranslation, type TranslatedCall } from './translation/request-translation.ts';

export interface AttemptsPorts {
  transport: Transport;
  jobs: JobStore;
  picker: Picker;
  loopWatch: LoopWatch;
  registry: Registry;
  prices: Pick<PriceTable, 'maxOutput'>;
}

interface AttemptsOptions {
  ports: AttemptsPorts;
  request: IncomingMessage;
  response: ServerResponse;
  settings: Settings;
  trace: RequestTrace;
  /** Null if the group does not capture headers and bodies. */
  capture: Capture | null;
}

/** How one attempt's answer is read. */
interface Reading {
  /** Usage was asked for by Sluice alone. */
  stripUsage: boolean;
  translation: AnswerTranslation | null;
}

/** What is still read of an upstream when its client has left, where the group wants exact usage. */
const drainMs = 60_000;
/** A player that pauses a video, or a program stopped in a debugger, may read on after minutes. */
const unreadMs = 10 * 60_000;

export class UpstreamAttempts {
  readonly client: ClientResponse;
  readonly #options: AttemptsOptions;
  readonly #callPlan: CallPlan;
  readonly #call: OutgoingCall;
  /** All attempts; those that have ended ignore calls. */
  readonly #attempts: Attempt[] = [];
  #gone: PromiseWithResolvers<void> | undefined;
  /** Null if no other target may continue a broken stream. */
  readonly #text: StreamText | null;
  /** Null if a broken download cannot be resumed. */
  readonly #download: Download | null;
  #answer: Attempt | undefined;
  /** The client has the beginning of an answer, and no attempt is delivering the rest yet. */
  #isBroken = false;
  /** Targets whose text differed from the broken stream, and that can be asked to continue it. */
  readonly #continuing = new Set<Target>();
  #hasLeft = false;
  /** For the latest target that does not serve the client's API. */
  #translation: RequestTranslation | undefined;

  constructor(options: AttemptsOptions, callPlan: CallPlan, call: OutgoingCall) {
    const { response, settings, trace } = options;
    this.#options = options;
    this.#callPlan = callPlan;
    this.#call = call;
    this.client = new ClientResponse({
      response,
      requestId: trace.id,
      framing: framingOf(call.match.route),
      keepAliveMs: settings.keepAliveCommentMs,
      unreadMs,
      showsAttempts: settings.replyHeaders,
    });
    this.#text = this.#mayBeRescued() ? (call.match.route.wire.rescue?.openText() ?? null) : null;
    this.#download = mayBeResumed(call, options.request) ? new Download() : null;
  }

  /** A stream in another API's words is no rest of the client's. */
  #mayBeRescued(): boolean {
    const { targets } = this.#callPlan;
    return mayBeRescued(this.#callPlan, this.#call) && targets.every((target) => this.#passageTo(target) === null);
  }

  /** Null where the target takes the request as it is. */
  #passageTo(target: Target): Passage | null {
    const { match, body } = this.#call;
    const asked = { route: match.route, body, isStream: body.fields.stream, model: this.#callPlan.model };
    return passageTo(target, asked, this.#options.ports.registry);
  }

  /**
   * Resolves when the client has its response or has left. Throws GatewayError if nothing was sent and Sluice has to
   * state the reason.
   */
  async run(): Promise<void> {
    const { match, body } = this.#call;
    const { stream } = match.route;
    const policy = this.#policy();
    if (body.fields.stream && stream) this.client.keepAlive(stream.mayBeginEarly);
    const request = {
      policy,
      capability: match.route.wire.operation,
      conversation: () => match.route.wire.request.conversationOf(body),
    };
    const plan = new AttemptPlan({
      targets: this.#callPlan.targets,
      credentialId: this.#callPlan.credentialId,
      policy,
      picker: this.#picker,
      request,
      now: awakeMs,
      random: Math.random,
    });
    const outcome = await runAttempts({
      plan,
      picker: this.#picker,
      start: (next) => this.#start(next, this.#timeoutsOf(next.target, plan)),
      gone: () => this.#whenGone(),
    });
    if (outcome.kind === 'unanswered') this.#tell(outcome.lastWord);
  }

  get #picker(): Picker {
    const { passed, route } = this.#call.match;
    // That a service counts no tokens says nothing of its models.
    return passed || route.writeTokenCount ? onlyTarget : this.#options.ports.picker;
  }

  /** Passthrough requests may have side effects, and their body can be read only once: only GET and HEAD are retried. */
  #policy(): Policy {
    const { group, match, body } = this.#call;
    const isOnce = match.passed !== null && (!match.route.content || body.isOnce === true);
    return isOnce ? { ...group.policy, retries: 0, fallbacks: 0 } : group.policy;
  }

  clientLeft(): void {
    this.#hasLeft = true;
    const { group, match } = this.#call;
    // Passthrough responses report no usage.
    const mayDrain = group.policy.onClientGone === 'drain' && match.passed === null;
    for (const attempt of this.#attempts) attempt.clientLeft(mayDrain ? drainMs : 0);
    this.client.left();
    this.#gone?.resolve();
  }

  /** Created lazily, for attempts that wait before they begin. */
  #whenGone(): Promise<void> {
    this.#gone ??= Promise.withResolvers<void>();
    if (this.#hasLeft) this.#gone.resolve();
    return this.#gone.promise;
  }

  /** While another target is left, the time limits are shorter than those of the client. */
  #timeoutsOf({ provider }: Target, plan: AttemptPlan): AttemptTimeouts {
    const { group, match, body } = this.#call;
    const limits = group.timeouts.get(provider.id) ?? compileTimeouts(provider.ownTimeouts);
    const early = body.fields.stream && match.route.stream !== null ? limits.stream : limits.whole;
    return plan.leavesAnother(Math.max(early.firstByteMs, early.firstContentMs)) ? early : limits.last;
  }

  #start(next: NextAttempt, timeouts: AttemptTimeouts): RunningAttempt {
    const trace = this.#options.trace.attempt(next.target, next.credential?.id ?? null, next.cause);
    let attempt: Attempt | undefined;
    const sent = (latest: Attempt) => {
      attempt = latest;
    };
    return {
      record: trace.record,
      result: this.#attempt(next, timeouts, trace, sent),
      hasBegun: () => attempt?.hasBegun ?? false,
    };
  }

  async #attempt(
    next: NextAttempt,
    timeouts: AttemptTimeouts,
    trace: AttemptTrace,
    sent: (attempt: Attempt) => void,
  ): Promise<AttemptResult> {
    const { target, credential } = next;
    const { request: client } = this.#options;
    const { match } = this.#call;
    const passage = this.#passageTo(target);
    const translated = passage && this.#translated(passage, next);
    if (translated instanceof GatewayError) return untranslatable(translated, trace);
    // Nothing is waited for that is here: each promise costs a request as much as a look-up of its model.
    const prepared = translated ? translated.sendable : this.#sendableFor(target);
    const usual = prepared instanceof Promise ? await prepared : prepared;
    const sendable = this.#continuing.has(target) ? await this.#continued(target, usual) : usual;
    if (this.#hasLeft || this.#answer) {
      trace.record.failure = 'client-gone';
      return { kind: 'given-up' };
    }
    const send = (request: OutgoingRequest) => {
      const attempt = this.#open(next, timeouts, trace, {
        stripUsage: sendable.usageAsked,
        translation: translated ? translated.answer() : null,
      });
      sent(attempt);
      attempt.attach(this.#options.ports.transport.send(request, attempt));
      return attempt.result;
    };
    const call = translated ? translated.call : this.#call;
    const request = outgoingRequest(client, call, { target, credential, sendable, timeouts });
    const rest = this.#download?.restHeaders();
    if (rest) Object.assign(request.headers, rest);
    let result = await send(request);
    if (match.route.content) {
      result = await followContent(result, request, { ...this.#call.headers, ...rest }, send);
    }
    if (result.kind === 'redirected') return this.#redirected(next, trace, result.location);
    this.#learn(target, result);
    return result;
  }

  #sendableFor(target: Target): PreparedBody | Promise<PreparedBody> {
    const { match, body } = this.#call;
    const askUsage = target.provider.askUsage && match.route.stream?.withoutUsage !== undefined;
    const previousId = match.id === null ? this.#callPlan.upstreamId : undefined;
    return body.sendable(match.route.modelIn === 'body' ? target.model : null, askUsage, previousId);
  }

  /** A GatewayError where the target cannot be asked that. */
  #translated(passage: Passage, { target, credential }: NextAttempt): TranslatedCall | GatewayError {
    const { ports, request, trace } = this.#options;
    try {
      const wanted = { requestId: trace.id, refusesLosses: request.headers['x-sluice-lossy'] === 'refuse' };
      const isKnown = this.#translation?.route === passage.route;
      const translation =
        isKnown && this.#translation ? this.#translation : new RequestTranslation(this.#call, passage, wanted);
      this.#translation = translation;
      const model = this.#callPlan.model ?? '';
      const maxOutputTokens = ports.prices.maxOutput(target.provider.id, target.model ?? model) ?? undefined;
      return translation.forTarget({ target, credentialId: credential?.id ?? null, model, maxOutputTokens });
    } catch (thrown) {
      if (thrown instanceof GatewayError) return thrown;
      throw thrown;
    }
  }

  #redirected({ target, credential }: NextAttempt, { record }: AttemptTrace, location: string): AttemptResult {
    const secrets = secretsOf(this.#options.trace.presented, credential);
    const error = errorOfRedirect(target, redactText(withoutSignature(location), secrets));
    record.failure = redirectFailure.class;
    record.error = error.message;
    return { kind: 'failed', failure: redirectFailure, lastWord: { kind: 'error', error } };
  }

  #learn(target: Target, result: AttemptResult): void {
    if (result.kind === 'broken') {
      this.#isBroken = true;
      this.#answer = undefined;
    } else if (result.kind === 'failed' && result.failure.continues) this.#continuing.add(target);
  }

  /** The body for a target that is asked to continue an answer. */
  async #continued<T extends Sendable>(target: Target, sendable: T): Promise<T> {
    const { prefill } = target.provider;
    if (!prefill) return sendable;
    const { rescue } = this.#call.match.route.wire;
    const soFar = this.#text?.read();
    if (!rescue || !soFar || !sendable.bytes) return sendable;
    const body = await rescue.continuedBody(await sendable.bytes(), soFar.text, prefill);
    return body ? { ...sendable, length: body.length, open: () => body } : sendable;
  }

  #open(
    next: NextAttempt,
    timeouts: AttemptTimeouts,
    trace: AttemptTrace,
    { stripUsage, translation }: Reading,
  ): Attempt {
    const { match, body, held } = this.#call;
    const route = translation ? translation.upstream : match.route;
    if (translation) trace.usage = route.wire.usage;
    const isStreamFit = body.fields.stream || route.wire.request.mayMeanStream(body);
    const attempt: Attempt = new Attempt({
      client: this.client,
      trace,
      request: this.#options.trace,
      loopWatch: this.#options.ports.loopWatch,
      target: next.target,
      secrets: secretsOf(this.#options.trace.presented, next.credential),
      held,
      asked: {
        route,
        method: this.#options.request.method ?? route.method,
        isStreamAsked: body.fields.stream && route.stream !== null,
        isTextAsked: route.wire.request.isTextAsked(body),
        isTranslated: translation !== null,
        isKept:
          translation === null && route.job !== null && (body.fields.store || route.wire.request.isBackground(body)),
      },
      translation,
      wantsUsage: () => translation !== null || route.wire.request.wantsUsage(body),
      needs: {
        isStreamFit,
        answers: isStreamFit ? route.wire.request.answersAsked(body) : 1,
        stripUsage,
        text: this.#text,
        rest: this.#rest(next),
        download: this.#download,
      },
      timeouts,
      number: this.#options.trace.attempts.length,
      claim: () => this.#claim(attempt, trace, next),
      observers: () => this.#observers(next, translation),
    });
    this.#attempts.push(attempt);
    return attempt;
  }

  #rest(next: NextAttempt): WantedRest | null {
    const soFar = this.#isBroken ? this.#text?.read() : null;
    if (!soFar) return null;
    return {
      soFar,
      isContinuation: this.#continuing.has(next.target),
      foundAs: (upstreamId) => {
        if (soFar.storedId !== undefined) this.#rememberResponse(next, soFar.storedId, upstreamId);
      },
    };
  }

  /** Both ids of the response lead to the upstream that has the whole of it. */
  #rememberResponse(next: NextAttempt, id: string, upstreamId: string): void {
    if (!this.#call.body.fields.store || !isPathSegment(id) || !isPathSegment(upstreamId)) return;
    const job = { ...this.#owner(next), kind: 'response', createdAt: Date.now() } as const;
    this.#options.ports.jobs.remember({ ...job, id: upstreamId });
    this.#options.ports.jobs.remember({ ...job, id, upstreamId });
  }

  #owner({ target, credential }: NextAttempt): Omit<Job, 'kind' | 'id' | 'createdAt'> {
    const { trace } = this.#options;
    const model = target.model ?? trace.model;
    return {
      groupId: this.#call.group.id,
      keyId: trace.key?.id ?? '',
      providerId: target.provider.id,
      credentialId: credential?.id ?? null,
      model: model !== null && notedText(model, trace.presented, model.length) === model ? model : null,
    };
  }

  /** The first attempt with content is the answer. */
  #claim(attempt: Attempt, trace: AttemptTrace, { target, credential }: NextAttempt): boolean {
    if (this.#answer) return false;
    if (attempt.status < 400) this.#picker.answers(target, credential?.id ?? null);
    this.#answer = attempt;
    this.#options.trace.answering = trace;
    for (const other of this.#attempts) if (other !== attempt) other.giveUp();
    return true;
  }

  /** Observes the response: one for the id of a new job, one for the capture. */
  #observers(next: NextAttempt, translation: AnswerTranslation | null): ResponseObserver[] {
    const { ports, capture, request, trace } = this.#options;
    // The rest of a response has the id of the first one, which its upstream does not know.
    if (this.#isBroken) return capture ? [capture] : [];
    capture?.restart(secretsOf(trace.presented, next.credential));
    const context = { jobs: ports.jobs, trace, owner: this.#owner(next) };
    // A translated request is asked to be stored nowhere.
    const watch = translation ? null : madeWatcher(request.method ?? 'GET', this.#call, context);
    return [watch, capture].filter((observer) => observer !== null);
  }

  /** No attempt succeeded. If comments have already opened a stream, the error takes the form of a stream event. */
  #tell(word: LastWord): void {
    const { response, settings, trace } = this.#options;
    const { stream } = this.#call.match.route;
    const attempts = trace.attempts.length;
    const count = mayBeEstimated(word) ? tokenCount(response, this.#call.match.route, this.#call.body) : null;
    const ownEvent = this.#isBroken && word.kind === 'answer' ? word.answer.event : undefined;
    if (count) this.client.tell(count);
    else if (ownEvent) this.client.fail(errorCodeOf(word), ownEvent);
    else if (this.#isBroken && word.kind === 'error') {
      this.client.breakOff(word.error, this.#text?.errorEvent(word.error.toBody().error) ?? null);
    } else if (this.client.hasBegun && stream) {
      this.client.fail(errorCodeOf(word), Buffer.from(stream.watch(1).errorEvent(errorBodyOf(word))));
    } else if (word.kind === 'answer') this.client.relay(word.answer, attempts);
    else {
      if (settings.replyHeaders) response.setHeader('x-sluice-attempts', attempts);
      throw word.error;
    }
  }
}

/** Whoever else is asked would be asked for the same. */
function untranslatable(error: GatewayError, { record }: AttemptTrace): AttemptResult {
  record.failure = 'rejected';
  record.error = error.message;
  const failure = { class: 'rejected', retryable: false, retryAfterMs: null } as const;
  return { kind: 'failed', failure, lastWord: { kind: 'error', error } };
}
