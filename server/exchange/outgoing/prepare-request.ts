/** Prepares what each target is sent, and learns what a target refuses of it. */
import type { IncomingMessage } from 'node:http';
import { isPurchase } from '../../apis/core/api.ts';
import {
  type ChatFlavour,
  type FittedBody,
  hasOptional,
  plainFlavour,
  type ReasoningOf,
  refusing,
} from '../../apis/core/chat-flavour.ts';
import type { HostedModel } from '../../apis/core/dialects/dialect.ts';
import { framingOf } from '../../apis/core/sse-framing.ts';
import { entryOf } from '../../apis/core/table-entry.ts';
import type { PartialText } from '../../apis/core/wire.ts';
import { joinBytes, piecesOf } from '../../apis/json/json-peek.ts';
import { parseObject } from '../../apis/json/parse-object.ts';
import type { Origin } from '../../apis/neutral/conversation.ts';
import { refusalOf } from '../../apis/neutral/losses.ts';
import { newestCallResultIds, newestResultIds } from '../../apis/neutral/requests/carried-reasoning.ts';
import type { Registry } from '../../apis/registry.ts';
import { type Opened, openSeals, originOfSeals } from '../../apis/translation/returned-seals.ts';
import { isWireName, upstreamTranslations, wireTranslations } from '../../apis/translation/translation-registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Policy } from '../../contract/policy.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { LearntRefusals } from '../../providers/chat-flavours.ts';
import type { NextAttempt } from '../../routing/attempt-plan.ts';
import type { AttemptResult, FailedAttempt } from '../../routing/attempt-result.ts';
import type { PickRequest } from '../../routing/picker.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { ReasoningStore, ResponseStore } from '../../store/ports/kept-stores.ts';
import type { CallPlan } from '../plan/plan.ts';
import { policyOf } from '../plan/plan-route.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { PreparedBody } from '../request/request-body.ts';
import { ClientReasoning, ReasoningObserver } from '../translation/client-reasoning.ts';
import { RefusedReasoning } from '../translation/refused-reasoning.ts';
import {
  chooseTranslation,
  inEnvelope,
  type PreparedRequest,
  RequestTranslation,
  type TranslationRoute,
} from '../translation/request-translation.ts';
import type { TranslationThreads } from '../translation/translation-threads.ts';

export interface PreparationPorts {
  registry: Registry;
  keptResponses: ResponseStore;
  reasoning: ReasoningStore;
  learntRefusals: LearntRefusals;
  prices: Pick<PriceTable, 'maxOutput'>;
  translationThreads: TranslationThreads;
}

/** More tool results than a conversation holds before it is compacted. */
const maxToolResults = 2_048;

const unopened: Opened = { edits: [], losses: [] };

interface PreparationOptions {
  ports: PreparationPorts;
  request: IncomingMessage;
  trace: RequestTrace;
}

/** Prepares the request for each target: sets its model name, translates it into its API, or turns it into a continuation. */
export class RequestPreparation {
  readonly #options: PreparationOptions;
  readonly #plan: CallPlan;
  readonly #call: OutgoingCall;
  readonly #refusedMembers: RefusedMembers;
  /** Created at the first failure, because most requests never need it. */
  #refusedReasoning: RefusedReasoning | undefined;
  /** The translation for the latest target that does not serve the client's API. */
  #translation: RequestTranslation | undefined;

  constructor(options: PreparationOptions, plan: CallPlan, call: OutgoingCall) {
    this.#options = options;
    this.#plan = plan;
    this.#call = call;
    this.#refusedMembers = new RefusedMembers(options.ports.learntRefusals, plan.model ?? '');
  }

  /**
   * Returns a GatewayError if the request cannot be translated for the target. Returns a promise only if the body is on
   * disk, another thread translates it or a cloud hosts the model, because a promise costs a request as much as a look-up of its model.
   */
  for(next: NextAttempt): PreparedRequest | GatewayError | Promise<PreparedRequest | GatewayError> {
    const { provider, model } = next.target;
    const translationRoute = this.#translationRouteTo(next.target);
    const hosted = provider.dialect.hosted?.(model ?? this.#plan.model ?? '');
    const isParsed = translationRoute !== null || hosted || this.#refusedReasoning?.isBy(next.target);
    const refusal = isParsed ? this.#holdHeap() : null;
    if (refusal) return refusal;
    const prepared = translationRoute ? this.#translated(translationRoute, next) : this.#ownWords(next);
    return hosted ? this.#enveloped(prepared, hosted) : prepared;
  }

  /** The properties of the request that affect the order of targets. */
  get pickRequest(): PickRequest {
    const { match, body } = this.#call;
    return {
      policy: policyOf(this.#call),
      capability: match.route.wire.operation,
      isPurchase: isPurchase(match.route, body),
      conversation: () => match.route.wire.request.conversationOf(body),
      reasoningOrigin: () => this.#reasoningOrigin(),
    };
  }

  /**
   * Where the newest reasoning in the conversation was produced: the client's own, otherwise that stored for its calls.
   */
  #reasoningOrigin(): Origin | null {
    const { body, match } = this.#call;
    const wire = match.route.wire.name;
    if (body.captured === null || !isWireName(wire)) return null;
    const { captured: bytes, marked = [] } = body;
    const carried = marked.length === 0 ? null : originOfSeals(wire, { bytes, marked });
    if (carried || !this.#plan.targets.some(this.#isTranslated)) return carried;
    return this.#clientReasoning.originOf(newestCallResultIds(bytes, wireTranslations[wire].client));
  }

  /** Loads the conversation's stored reasoning into memory; null if there is nothing to wait for. */
  prefetchReasoning(): Promise<void> | null {
    const { reasoning } = this.#options.ports;
    if (!reasoning.prefetch) return null;
    const ids = this.#resultIds();
    return ids.length === 0 ? null : reasoning.prefetch(this.#options.trace.key?.id ?? '', ids);
  }

  /** Stores the reasoning of the target's answer, which the client gets unchanged; null if the target does not want it back. */
  reasoningObserver(target: Target): ReasoningObserver | null {
    const { route } = this.#call.match;
    if (route.wire.name !== 'openai-chat' || !this.#wantsReasoning(target)) return null;
    return new ReasoningObserver(this.#clientReasoning, upstreamTranslations['openai-chat'], framingOf(route));
  }

  /** The tool results, whose calls' reasoning may be stored; none if no target wants it back. */
  #resultIds(): string[] {
    const { body, match } = this.#call;
    const { name } = match.route.wire;
    if (body.captured === null || !isWireName(name) || !this.#plan.targets.some(this.#mayLackReasoning)) return [];
    return newestResultIds(body.captured, wireTranslations[name].client.resultId, maxToolResults);
  }

  readonly #isTranslated = (target: Target): boolean => this.#translationRouteTo(target) !== null;

  #wantsReasoning({ provider, model }: Target): boolean {
    const flavour = provider.chatFlavourOf(model ?? this.#plan.model ?? '');
    return flavour !== null && flavour.wantsReasoning !== 'of none';
  }

  readonly #mayLackReasoning = (target: Target): boolean => this.#isTranslated(target) || this.#wantsReasoning(target);

  readonly #reasoningOf: ReasoningOf = (calls) => this.#clientReasoning.textOf(calls);

  get #clientReasoning(): ClientReasoning {
    const { ports, trace } = this.#options;
    return new ClientReasoning(ports.reasoning, trace.key?.id ?? '');
  }

  /** The client's own bytes, without what Sluice put into the conversation and what the target refuses. */
  #ownWords({ target, credential }: NextAttempt): MaybePromise<PreparedRequest | GatewayError> {
    const model = target.model ?? this.#plan.model ?? '';
    const reader = { provider: target.provider.id, model, account: credential?.id ?? '' };
    const opened = this.#openedFor(reader);
    const flavour = target.provider.chatFlavourOf(model);
    if (opened.edits.length > 0) {
      const prepared = this.#withChanges(target, opened);
      return flavour ? this.#fittedAfterwards(prepared, flavour) : prepared;
    }
    const fitted = flavour && changesFor(this.#call, flavour, this.#reasoningOf);
    return fitted instanceof Promise
      ? fitted.then((changes) => this.#withChanges(target, changes ?? opened))
      : this.#withChanges(target, fitted ?? opened);
  }

  #withChanges(target: Target, { edits, losses }: Opened): MaybePromise<PreparedRequest | GatewayError> {
    const refusal = this.#refusesLosses ? refusalOf(losses) : null;
    if (refusal) return refusal;
    const call = this.#call;
    const sendable = this.#sendableFor(target, edits);
    const prepared = { call, translation: null, hosting: null, losses };
    if (this.#refusedReasoning?.isBy(target)) return this.#withoutReasoning(target, prepared, sendable);
    return sendable instanceof Promise
      ? sendable.then((preparedBody) => ({ ...prepared, sendable: preparedBody }))
      : { ...prepared, sendable };
  }

  async #fittedAfterwards(
    preparing: MaybePromise<PreparedRequest | GatewayError>,
    flavour: ChatFlavour,
  ): Promise<PreparedRequest | GatewayError> {
    const prepared = await preparing;
    if (prepared instanceof GatewayError) return prepared;
    const fitted = await fittedAfterwards(prepared, flavour, this.#reasoningOf);
    return (this.#refusesLosses ? refusalOf(fitted.losses) : null) ?? fitted;
  }

  /** Reads nothing of a body in which the scan found nothing of Sluice's making. */
  #openedFor(reader: Origin): Opened {
    const { body, match } = this.#call;
    const { captured: bytes, marked } = body;
    const wire = match.route.wire.name;
    if (!marked?.length || bytes === null || !isWireName(wire)) return unopened;
    return openSeals(wire, { bytes, marked }, reader);
  }

  async #enveloped(
    preparing: MaybePromise<PreparedRequest | GatewayError>,
    hosted: HostedModel,
  ): Promise<PreparedRequest | GatewayError> {
    const prepared = await preparing;
    if (prepared instanceof GatewayError) return prepared;
    try {
      const enveloped = await inEnvelope(prepared, hosted);
      const refusal = this.#refusesLosses ? refusalOf(enveloped.losses) : null;
      return refusal ?? enveloped;
    } catch (thrown) {
      if (thrown instanceof GatewayError) return thrown;
      throw thrown;
    }
  }

  /** Returns the attempt's result; `refusesReasoning` stays set only if the target should be asked again without reasoning. */
  noted(target: Target, result: FailedAttempt, prepared: PreparedRequest): Promise<AttemptResult> {
    const { sendable, translation } = prepared;
    const { refusesMember: member, ...failure } = result.failure;
    if (member !== undefined && this.#refusedMembers.noted(target, member, prepared))
      return Promise.resolve({ ...result, failure: { ...failure, class: 'rejected', refusesMember: member } });
    const isAllowed = translation !== null || !this.#refusesLosses;
    const mayBeAskedAgain = isAllowed && result.failure.refusesReasoning === true && this.#holdHeap() === null;
    this.#refusedReasoning ??= new RefusedReasoning(this.#call, this.#options.ports.translationThreads);
    const clientBody = translation ? null : sendable;
    const model = target.model ?? this.#plan.model ?? '';
    return this.#refusedReasoning.noted({
      target,
      result: { ...result, failure },
      clientBody,
      model,
      mayBeAskedAgain,
    });
  }

  /** The target answers the request. */
  answered(target: Target): void {
    this.#refusedMembers.answered(target);
  }

  /** Counts the heap that the body takes while it is parsed. Returns a GatewayError if there is not enough. */
  #holdHeap(): GatewayError | null {
    const { body, memory } = this.#call;
    try {
      memory.parse({ bytes: body.size, values: body.values ?? 0 });
      return null;
    } catch (thrown) {
      return refusalIn(thrown);
    }
  }

  #translationRouteTo(target: Target): TranslationRoute | null {
    const { body, match } = this.#call;
    const facts = { route: match.route, body, isStream: body.fields.stream, model: this.#plan.model };
    return chooseTranslation(target, facts, this.#options.ports.registry);
  }

  /** Prepares the body for a target that is asked to continue an answer; `soFar` is the text that the client has received. */
  async continued(prepared: PreparedRequest, target: Target, soFar: PartialText | null): Promise<PreparedRequest> {
    const { prefill } = target.provider;
    const { rescue } = this.#call.match.route.wire;
    const { sendable } = prepared;
    if (!prefill || !rescue || !soFar || !sendable.bytes) return prepared;
    const body = await rescue.continuedBody(await sendable.bytes(), soFar.text, prefill);
    return body ? { ...prepared, sendable: { ...sendable, length: body.length, open: () => body } } : prepared;
  }

  #sendableFor(target: Target, edits: Opened['edits']): PreparedBody | Promise<PreparedBody> {
    const { match, body } = this.#call;
    return body.sendable({
      model: match.route.modelIn === 'body' ? target.model : null,
      askUsage: match.route.stream?.withoutUsage !== undefined && this.#mayAskUsage(target),
      previousResponseId: match.id === null ? this.#plan.upstreamId : undefined,
      edits,
    });
  }

  #mayAskUsage(target: Target): boolean {
    const { request = {} } = this.#refusedMembers.flavourOf(target) ?? {};
    return target.provider.askUsage && entryOf(request, 'stream_options') === undefined;
  }

  async #withoutReasoning(
    { model }: Target,
    prepared: Omit<PreparedRequest, 'sendable'>,
    preparing: MaybePromise<PreparedBody>,
  ): Promise<PreparedRequest> {
    const sendable = await preparing;
    const reduced = await this.#refusedReasoning?.without(sendable, model ?? this.#plan.model ?? '');
    if (!reduced) return { ...prepared, sendable };
    const { body, losses } = reduced;
    const whole = { ...sendable, length: body.length, open: () => body, bytes: async () => body };
    return { ...prepared, sendable: whole, losses: [...prepared.losses, ...losses] };
  }

  get #refusesLosses(): boolean {
    const losses = lossesWanted(this.#options.request.headers['x-sluice-lossy']) ?? this.#call.group.policy.losses;
    return losses === 'refuse';
  }

  #translated(translationRoute: TranslationRoute, next: NextAttempt): MaybePromise<PreparedRequest | GatewayError> {
    try {
      const isOpen = this.#translation?.route === translationRoute.route;
      const translation = (isOpen && this.#translation) || this.#open(translationRoute);
      const prepared = this.#forTarget(translation, next);
      return prepared instanceof Promise ? prepared.catch(refusalIn) : prepared;
    } catch (thrown) {
      return refusalIn(thrown);
    }
  }

  #open(translationRoute: TranslationRoute): RequestTranslation {
    const { ports, trace } = this.#options;
    this.#translation = new RequestTranslation(this.#call, translationRoute, {
      requestId: trace.id,
      refusesLosses: this.#refusesLosses,
      body: this.#call.body.captured ?? Buffer.alloc(0),
      keptResponses: ports.keptResponses,
      reasoning: this.#clientReasoning,
      threads: ports.translationThreads,
    });
    return this.#translation;
  }

  #forTarget(translation: RequestTranslation, { target, credential }: NextAttempt): MaybePromise<PreparedRequest> {
    const model = this.#plan.model ?? '';
    const { prices } = this.#options.ports;
    const maxOutputTokens = prices.maxOutput(target.provider.id, target.model ?? model) ?? undefined;
    const withoutReasoning = this.#refusedReasoning?.isBy(target) ?? false;
    const chatFlavour = this.#refusedMembers.flavourOf(target);
    const credentialId = credential?.id ?? null;
    return translation.forTarget({ target, credentialId, model, maxOutputTokens, withoutReasoning, chatFlavour });
  }
}

function refusalIn(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  throw thrown;
}

/** The value of the header `x-sluice-lossy`; null if it is absent or unknown, so that the group's policy applies. */
function lossesWanted(header: string | string[] | undefined): Policy['losses'] | null {
  return header === 'refuse' || header === 'tell' ? header : null;
}

/** What has to change in the body as the client sent it; null: nothing. */
function changesFor(
  { match, body }: OutgoingCall,
  flavour: ChatFlavour,
  reasoningOf: ReasoningOf,
): MaybePromise<FittedBody | null> {
  const { fitting } = match.route.wire.request;
  return fitting && body.outline ? fitting.fitted(body.outline, flavour, reasoningOf) : null;
}

/** For a body in which other things have changed before, so that its members are not where the client had them. */
async function fittedAfterwards(
  prepared: PreparedRequest,
  flavour: ChatFlavour,
  reasoningOf: ReasoningOf,
): Promise<PreparedRequest> {
  const { call, sendable, losses } = prepared;
  const { fitting } = call.match.route.wire.request;
  if (!fitting || !sendable.bytes) return prepared;
  const bytes = await sendable.bytes();
  const fitted = await fitting.fitted(fitting.outlineOf(bytes), flavour, reasoningOf);
  if (!fitted) return prepared;
  const body = await joinBytes(piecesOf(bytes, fitted.edits));
  const changed = { ...sendable, length: body.length, open: () => body, bytes: async () => body };
  return { ...prepared, sendable: changed, losses: [...losses, ...fitted.losses] };
}

/**
 * Members that a target has refused although not the client but Sluice had written them. It is asked once more without
 * each, and if it then answers, the next requests are sent without it at once.
 */
class RefusedMembers {
  readonly #learnt: LearntRefusals;
  /** The client's name for the model. */
  readonly #model: string;
  /** Those of this request. */
  readonly #refused = new Map<Target, Set<string>>();

  constructor(learnt: LearntRefusals, model: string) {
    this.#learnt = learnt;
    this.#model = model;
  }

  /** What the target refuses of a request that Sluice writes; undefined: nothing that is known. */
  flavourOf(target: Target): ChatFlavour | undefined {
    const known = target.provider.chatFlavourOf(this.#modelOf(target));
    const members = this.#of(target);
    return members.length === 0 ? (known ?? undefined) : members.reduce(refusing, known ?? plainFlavour);
  }

  /** Whether the target should be asked again, without this member. */
  noted(target: Target, member: string, prepared: PreparedRequest): boolean {
    if (!wasAdded(member, prepared) || this.#of(target).includes(member)) return false;
    const refused = this.#refused.get(target) ?? new Set();
    this.#refused.set(target, refused.add(member));
    return true;
  }

  /** The target has answered, so that it was the members. */
  answered(target: Target): void {
    for (const member of this.#refused.get(target) ?? [])
      this.#learnt.learn(target.provider, this.#modelOf(target), member);
  }

  #of(target: Target): readonly string[] {
    const learnt = this.#learnt.of(target.provider, this.#modelOf(target));
    const refused = this.#refused.get(target);
    return refused ? [...refused, ...(learnt ?? none)] : (learnt ?? none);
  }

  #modelOf({ model }: Target): string {
    return model ?? this.#model;
  }
}

const none: readonly string[] = [];

/** A member of the client's own body is not Sluice's to leave out. */
function wasAdded(member: string, { sendable, translation }: PreparedRequest): boolean {
  if (!translation) return member === 'stream_options' && sendable.usageAsked;
  if (translation.upstream.wire.name !== 'openai-chat') return false;
  const body = sendable.open();
  const written = Buffer.isBuffer(body) && body.includes(`"${member}":`) ? parseObject(body.toString()) : null;
  return written !== null && hasOptional(written, member);
}
