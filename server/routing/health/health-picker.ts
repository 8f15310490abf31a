import type { UpstreamCredential } from '../../providers/upstream.ts';
import { anyNameLast } from '../order-targets.ts';
import type { Picker, PickRequest, ReasoningOrigin } from '../picker.ts';
import type { CompiledProvider, Target } from '../snapshot.ts';
import { coolingLast } from './cooling-last.ts';
import type { HealthTracker } from './health-tracker.ts';
import { LatencyExploration } from './latency-exploration.ts';
import { noCredential, type ProviderHealth } from './provider-health.ts';
import { drawFor, type StrategyFacts, strategies } from './strategies.ts';

interface HealthPickerPorts {
  health: HealthTracker;
  /** The price of a typical request in US dollars; null: unknown. */
  typicalPrice(target: Target): number | null;
  /** From 0 to 1. */
  random?(): number;
}

/** Orders targets by the group's strategy, with those in a cooldown last. */
export class HealthPicker implements Picker {
  readonly #ports: HealthPickerPorts;
  readonly #health: HealthTracker;
  readonly #random: () => number;
  readonly #measuring = new LatencyExploration();
  readonly #conversations = new WeakMap<PickRequest, string | null>();
  readonly #origins = new WeakMap<PickRequest, ReasoningOrigin | null>();
  /** The credential of the latest attempt, for providers with several. */
  readonly #lastUsed = new WeakMap<CompiledProvider, string | null>();

  constructor(ports: HealthPickerPorts) {
    this.#ports = ports;
    this.#health = ports.health;
    this.#random = ports.random ?? Math.random;
  }

  order(targets: readonly Target[], request: PickRequest): readonly Target[] {
    if (targets.length < 2) return targets;
    const nowMs = this.#health.nowMs();
    let ordered = strategies[request.policy.strategy](targets, this.#facts(request));
    if (request.policy.strategy === 'lowest-latency') {
      ordered = this.#measuring.order(ordered, (target) => this.#health.target(target), nowMs);
    }
    const origin = this.#originOf(request);
    ordered = anyNameLast(ordered);
    if (origin) ordered = firstOf(ordered, (target) => madeBy(target, origin));
    return coolingLast(ordered, this.#health, nowMs);
  }

  credentials({ provider, model }: Target, request: PickRequest): readonly (UpstreamCredential | null)[] {
    const health = this.#health.provider(provider.id);
    const ordered = provider.credentials.length === 0 ? without : this.#ordered(provider, request);
    if (!health?.hasTroubledCredential(model)) return ordered;
    return this.#availableCredentials(ordered, { model, health, isPurchase: request.isPurchase });
  }

  refusedForMs({ provider }: Target, credentialId: string | null): number | null {
    const health = this.#health.provider(provider.id);
    return health?.refusedForMs(credentialId ?? noCredential, this.#health.nowMs()) ?? null;
  }

  heldBackForMs(target: Target, onlyCredential: string | null): number {
    return this.#health.heldBackForMs(target, onlyCredential);
  }

  worthWaitingMs(target: Target, credentialId: string | null): number | null {
    return this.#health.worthWaitingMs(target, credentialId);
  }

  began(target: Target, credentialId: string | null): void {
    const { provider } = target;
    if (provider.credentials.length > 1) this.#lastUsed.set(provider, credentialId);
    this.#health.began(target, credentialId);
  }

  isAvailable(target: Target): boolean {
    return this.#health.isAvailable(target, this.#health.nowMs());
  }

  trialPatienceMs(target: Target): number {
    return this.#health.trialPatienceMs(target);
  }

  answers(target: Target, credentialId: string | null): void {
    this.#health.answers(target, credentialId);
  }

  report(...[attempt]: Parameters<Picker['report']>): void {
    this.#health.report(attempt);
  }

  #facts(request: PickRequest): StrategyFacts {
    return {
      random: this.#random,
      conversation: () => this.#conversationOf(request),
      firstByteMs: (target) => this.#health.firstByteMs(target),
      typicalPrice: this.#ports.typicalPrice,
    };
  }

  /** Cached for each request, since it parses the body. */
  #conversationOf(request: PickRequest): string | null {
    let conversation = this.#conversations.get(request);
    if (conversation === undefined) {
      conversation = request.conversation();
      this.#conversations.set(request, conversation);
    }
    return conversation;
  }

  /** Cached for each request, since it scans the body. */
  #originOf(request: PickRequest): ReasoningOrigin | null {
    let origin = this.#origins.get(request);
    if (origin === undefined) {
      origin = request.reasoningOrigin();
      this.#origins.set(request, origin);
    }
    return origin;
  }

  /** First the account that can read the conversation's reasoning, then the strategy's order. */
  #ordered(provider: CompiledProvider, request: PickRequest): readonly UpstreamCredential[] {
    const ordered = this.#inTurn(provider, request);
    const origin = ordered.length > 1 ? this.#originOf(request) : null;
    return origin?.provider === provider.id ? firstOf(ordered, ({ id }) => id === origin.account) : ordered;
  }

  #inTurn(provider: CompiledProvider, request: PickRequest): readonly UpstreamCredential[] {
    const { credentials } = provider;
    if (credentials.length < 2) return credentials;
    const { strategy } = request.policy;
    const isBound = strategy === 'sticky' || (strategy === 'round-robin' && provider.dialect.bindsReasoning);
    const conversation = isBound ? this.#conversationOf(request) : null;
    if (conversation === null && strategy === 'round-robin') {
      const last = this.#lastUsed.get(provider);
      const turn = credentials.findIndex(({ id }) => id === last) + 1;
      return [...credentials.slice(turn), ...credentials.slice(0, turn)];
    }
    if (conversation === null) return credentials;
    const drawn = credentials.map((credential) => ({
      credential,
      draw: drawFor(conversation, `${provider.id}#${credential.id}`),
    }));
    return drawn.sort((a, b) => b.draw - a.draw).map(({ credential }) => credential);
  }

  /**
   * Empty only if all were refused; if all others are in a cooldown, the one that ends first. A refused one is tried again after a
   * while, but not by a request that makes something.
   */
  #availableCredentials<T extends UpstreamCredential | null>(
    credentials: readonly T[],
    { model, health, isPurchase }: { model: string | null; health: ProviderHealth; isPurchase: boolean },
  ): readonly T[] {
    const nowMs = this.#health.nowMs();
    const idOf = (credential: T) => credential?.id ?? noCredential;
    const tried = isPurchase ? credentials.filter((each) => !health.isRefused(idOf(each))) : credentials;
    const askable = tried.filter((each) => health.isAvailable(model, idOf(each), nowMs));
    if (askable.length > 0) return askable;
    const untilMs = (credential: T) => health.credentialUntilMs(model, idOf(credential));
    return credentials
      .filter((each) => !health.isRefused(idOf(each)))
      .toSorted((a, b) => untilMs(a) - untilMs(b))
      .slice(0, 1);
  }
}

function madeBy({ provider, model }: Target, origin: ReasoningOrigin): boolean {
  return provider.id === origin.provider && (model === null || model === origin.model);
}

function firstOf<T>(ordered: readonly T[], isFirst: (item: T) => boolean): readonly T[] {
  const first = ordered.find(isFirst);
  return first === undefined || first === ordered[0] ? ordered : [first, ...ordered.filter((item) => item !== first)];
}

const without: readonly null[] = [null];
