/**
 * Stations 4 to 6 of one request: makes its attempts and brings the answer of one of them, or of none, to the client. The
 * loop decides which attempts there are; this knows what an attempt is.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { awakeMs } from '../awake-clock.ts';
import type { Settings } from '../contract/settings.ts';
import type { Job, JobStore } from '../jobs/job-store.ts';
import { AttemptPlan, type NextAttempt } from '../routing/attempt-plan.ts';
import type { AttemptResult, LastWord } from '../routing/attempt-result.ts';
import { redirectFailure } from '../routing/classify-failure.ts';
import { errorBodyOf, errorCodeOf, errorOfRedirect } from '../routing/last-word.ts';
import type { Picker } from '../routing/picker.ts';
import { type RunningAttempt, runAttempts } from '../routing/run-attempts.ts';
import type { Target } from '../routing/snapshot.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import { conversationOf } from '../wire/openai/conversation-id.ts';
import { countChoices } from '../wire/openai/count-choices.ts';
import { mayMeanStream } from '../wire/openai/may-mean-stream.ts';
import { watchStream } from '../wire/openai/stream-protocol.ts';
import { type RelayResult, ReplyRelay } from './attempt.ts';
import type { Capture } from './capture.ts';
import type { WantedRest } from './choose-reader.ts';
import { ClientReply } from './client-response.ts';
import { followContent, withoutSignature } from './content-redirect.ts';
import type { AttemptTrace, RequestTrace } from './exchange-trace.ts';
import { jobWatcher } from './job-watcher.ts';
import { type OutgoingCall, outgoingRequest } from './outgoing-request.ts';
import type { CallPlan } from './plan.ts';
import { redactText } from './redact-credential.ts';
import { continuedBody } from './rescue/continued-body.ts';
import { Download } from './rescue/download.ts';
import { mayBeRescued, mayBeResumed } from './rescue/may-be-rescued.ts';
import { type StreamText, streamTextOf } from './rescue/stream-text.ts';
import type { ReplyInspector } from './response-observer.ts';
import type { Sendable } from './sendable.ts';

export interface AttemptsPorts {
  transport: Transport;
  jobs: JobStore;
  picker: Picker;
}

interface AttemptsOptions {
  ports: AttemptsPorts;
  request: IncomingMessage;
  response: ServerResponse;
  settings: Settings;
  trace: RequestTrace;
  /** Null if its group does not want headers and bodies kept. */
  capture: Capture | null;
}

/** What is still read of an upstream when its client has left, where the group wants exact usage. */
const drainMs = 60_000;
/** A player that pauses a film, or a program that a debugger has stopped, reads on after minutes. */
const unreadMs = 10 * 60_000;

export class UpstreamAttempts {
  readonly client: ClientReply;
  readonly #options: AttemptsOptions;
  readonly #callPlan: CallPlan;
  readonly #call: OutgoingCall;
  readonly #running = new Set<ReplyRelay>();
  readonly #gone = Promise.withResolvers<void>();
  /** Null where no other target is to go on with a stream that breaks. */
  readonly #text: StreamText | null;
  /** Null where a file that breaks off is not gone on with. */
  readonly #download: Download | null;
  #answer: ReplyRelay | undefined;
  /** The client has the beginning of an answer, and nobody is bringing the rest yet. */
  #isBroken = false;
  /** Those that answered otherwise than the broken stream, and can be asked to go on from there. */
  readonly #continuing = new Set<Target>();
  #hasLeft = false;

  constructor(options: AttemptsOptions, callPlan: CallPlan, call: OutgoingCall) {
    const { response, settings, trace } = options;
    this.#options = options;
    this.#callPlan = callPlan;
    this.#call = call;
    this.client = new ClientReply({
      response,
      requestId: trace.id,
      keepAliveMs: settings.keepAliveCommentMs,
      unreadMs,
      showsAttempts: settings.replyHeaders,
    });
    this.#text = mayBeRescued(callPlan, call) ? streamTextOf(call.match.route) : null;
    this.#download = mayBeResumed(call, options.request) ? new Download() : null;
  }

  /** Resolves when the client has its answer, or has left. Throws GatewayError where nothing was sent and Sluice has to say why. */
  async run(): Promise<void> {
    const { ports } = this.#options;
    const { group, match, body } = this.#call;
    const { stream } = match.route;
    // Of the other streams some upstreams know nothing, and answer after a while with one whole reply.
    if (body.fields.stream && stream) this.client.keepAlive(stream === 'chat' || stream === 'responses');
    const request = {
      policy: group.policy,
      capability: match.route.capability,
      conversation: () => conversationOf(body),
    };
    const attempts = new AttemptPlan({
      targets: this.#callPlan.targets,
      credentialId: this.#callPlan.credentialId,
      policy: group.policy,
      picker: ports.picker,
      request,
      now: awakeMs,
      random: Math.random,
    });
    const outcome = await runAttempts({
      plan: attempts,
      picker: ports.picker,
      start: (next) => this.#start(next),
      gone: this.#gone.promise,
    });
    if (outcome.kind === 'unanswered') this.#tell(outcome.lastWord);
  }

  clientLeft(): void {
    this.#hasLeft = true;
    const mayDrain = this.#call.group.policy.onClientGone === 'drain';
    for (const relay of this.#running) relay.clientLeft(mayDrain ? drainMs : 0);
    this.client.left();
    this.#gone.resolve();
  }

  #start(next: NextAttempt): RunningAttempt {
    const attempt = this.#options.trace.attempt(next.target, next.credential?.id ?? null, next.cause);
    let relay: ReplyRelay | undefined;
    const sent = (latest: ReplyRelay) => {
      relay = latest;
    };
    return {
      record: attempt.record,
      result: this.#attempt(next, attempt, sent),
      hasBegun: () => relay?.hasBegun ?? false,
    };
  }

  async #attempt(next: NextAttempt, trace: AttemptTrace, sent: (relay: ReplyRelay) => void): Promise<AttemptResult> {
    const { target, credential } = next;
    const { request: client } = this.#options;
    const { match, body } = this.#call;
    const askUsage = target.provider.askUsage && match.route.stream === 'chat';
    const previousId = match.id === null ? this.#callPlan.upstreamId : undefined;
    const sendable = await this.#continued(target, await body.sendable(target.model, askUsage, previousId));
    if (this.#hasLeft || this.#answer) {
      trace.record.failure = 'client-gone';
      return { kind: 'given-up' };
    }
    const send = (request: OutgoingRequest) => {
      const relay = this.#relay(next, trace, sendable.usageAsked);
      sent(relay);
      return this.#follow(relay, request);
    };
    const request = outgoingRequest(client, this.#call, { target, credential, sendable });
    const rest = this.#download?.restHeaders();
    if (rest) Object.assign(request.headers, rest);
    const first = await send(request);
    const result = match.route.content
      ? await followContent(first, request, { ...client.headers, ...rest }, send)
      : first;
    if (result.kind === 'redirected') return redirected(next, trace, result.location);
    this.#learn(target, result);
    return result;
  }

  #learn(target: Target, result: AttemptResult): void {
    if (result.kind === 'broken') {
      this.#isBroken = true;
      this.#answer = undefined;
    } else if (result.kind === 'failed' && result.failure.continues) this.#continuing.add(target);
  }

  /** The body for a target that is asked for the rest alone. */
  async #continued<T extends Sendable>(target: Target, sendable: T): Promise<T> {
    const { prefill } = target.provider;
    if (!this.#continuing.has(target) || !prefill) return sendable;
    const bytes = sendable.open();
    const soFar = this.#text?.read();
    if (!soFar || !(bytes instanceof Buffer)) return sendable;
    const body = (await continuedBody(bytes, soFar.text, prefill)) ?? bytes;
    return { ...sendable, length: body.length, open: () => body };
  }

  async #follow(relay: ReplyRelay, request: OutgoingRequest): Promise<RelayResult> {
    this.#running.add(relay);
    relay.attach(this.#options.ports.transport.send(request, relay));
    const result = await relay.result;
    this.#running.delete(relay);
    return result;
  }

  #relay(next: NextAttempt, trace: AttemptTrace, stripUsage: boolean): ReplyRelay {
    const { group, match, body } = this.#call;
    const { route } = match;
    const { id, timeouts } = next.target.provider;
    const isStreamFit = mayMeanStream(body);
    const relay: ReplyRelay = new ReplyRelay({
      client: this.client,
      trace,
      target: next.target,
      credential: next.credential,
      route,
      method: this.#options.request.method ?? route.method,
      body,
      needs: {
        isStreamAsked: body.fields.stream && route.stream !== undefined,
        isStreamFit,
        choices: isStreamFit ? countChoices(route, body) : 1,
        stripUsage,
        text: this.#text,
        rest: this.#rest(next),
        download: this.#download,
      },
      timeouts: group.timeouts.get(id) ?? timeouts,
      number: this.#options.trace.attempts.length,
      claim: () => this.#claim(relay, trace, next),
      inspectors: () => this.#inspectors(next),
    });
    return relay;
  }

  #rest(next: NextAttempt): WantedRest | null {
    const soFar = this.#isBroken ? this.#text?.read() : null;
    if (!soFar) return null;
    return {
      soFar,
      isContinuation: this.#continuing.has(next.target),
      foundAs: (upstreamId) => {
        if (soFar.kind === 'response') this.#rememberResponse(next, soFar.response.id, upstreamId);
      },
    };
  }

  /** Whoever asks for it by either name reaches the one that has the whole of it. */
  #rememberResponse(next: NextAttempt, id: string, upstreamId: string): void {
    if (!this.#call.body.fields.store) return;
    const job = { ...this.#owner(next), kind: 'response', createdAt: Date.now() } as const;
    this.#options.ports.jobs.remember({ ...job, id: upstreamId });
    this.#options.ports.jobs.remember({ ...job, id, upstreamId });
  }

  #owner({ target, credential }: NextAttempt): Omit<Job, 'kind' | 'id' | 'createdAt'> {
    const { trace } = this.#options;
    return {
      groupId: this.#call.group.id,
      keyId: trace.key?.id ?? '',
      providerId: target.provider.id,
      credentialId: credential?.id ?? null,
      model: target.model ?? trace.model,
    };
  }

  /** The first that has something to say is the answer. */
  #claim(relay: ReplyRelay, trace: AttemptTrace, { target, credential }: NextAttempt): boolean {
    if (this.#answer) return false;
    if (relay.status < 400) this.#options.ports.picker.answers(target, credential?.id ?? null);
    this.#answer = relay;
    this.#options.trace.answering = trace;
    for (const other of this.#running) if (other !== relay) other.giveUp();
    return true;
  }

  /** One watches for the id of a new job, one keeps the reply's beginning where the group wants that. */
  #inspectors(next: NextAttempt): ReplyInspector[] {
    const { ports, capture } = this.#options;
    // The rest of a response bears the id of the first, which is none to whoever brings it.
    if (this.#isBroken) return capture ? [capture] : [];
    const { match, body } = this.#call;
    const watch = jobWatcher(ports.jobs, { match, store: body.fields.store, owner: this.#owner(next) });
    capture?.restart(next.credential);
    return [watch, capture].filter((inspector) => inspector !== null);
  }

  /** Nobody answered. Where comments have promised a stream, it is told in the stream's own form. */
  #tell(word: LastWord): void {
    const { response, settings, trace } = this.#options;
    const { stream } = this.#call.match.route;
    const attempts = trace.attempts.length;
    if (this.#isBroken && word.kind === 'error') {
      this.client.breakOff(word.error, this.#text?.errorEvent(word.error.toBody().error) ?? null);
    } else if (this.client.hasBegun && stream) {
      this.client.fail(errorCodeOf(word), watchStream(stream).errorEvent(errorBodyOf(word)));
    } else if (word.kind === 'answer') this.client.relay(word.answer, attempts);
    else {
      if (settings.replyHeaders) response.setHeader('x-sluice-attempts', attempts);
      throw word.error;
    }
  }
}

function redirected({ target, credential }: NextAttempt, { record }: AttemptTrace, location: string): AttemptResult {
  const error = errorOfRedirect(target, redactText(withoutSignature(location), credential));
  record.failure = redirectFailure.class;
  record.error = error.message;
  return { kind: 'failed', failure: redirectFailure, lastWord: { kind: 'error', error } };
}
