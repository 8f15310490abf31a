/** Chooses among targets and credentials by their health, by the strategy of the group. */

import type { Policy } from '../../contract/policy.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import {
  anyNameLast,
  type Draw,
  orderByWeight,
  orderTargets,
  type Picker,
  type PickRequest,
  type ReasoningOrigin,
  sortBy,
} from '../picker.ts';
import type { CompiledProvider, Target } from '../snapshot.ts';
import type { HealthTracker } from './health-tracker.ts';
import { noCredential, type ProviderHealth, type TargetHealth } from './provider-health.ts';

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

/** An older measurement may be outdated. */
const staleMs = 60_000;
/** At most one in this many requests is spent on measuring a slower target again. */
const requestsBetween = 20;
/** An unmeasured target gets one request in this time until it has answered. */
const firstMeasureEveryMs = 10_000;

interface Measured {
  target: Target;
  health: TargetHealth;
}

/**
 * Sends a few requests to slower targets under `lowest-latency`. Otherwise a target that was slow once, say while loading
 * its model, would never be measured again.
 */
class LatencyExploration {
  #requests = 0;

  /** Fastest first, except when another target is due for a measurement. */
  order(targets: readonly Target[], healthOf: (target: Target) => TargetHealth, nowMs: number): readonly Target[] {
    this.#requests++;
    const measurements = targets.map((target) => ({ target, health: healthOf(target) }));
    const measured = measurements.filter(({ health }) => health.firstByteMs.value !== null);
    const unmeasured = measurements.filter(({ health }) => health.firstByteMs.value === null);
    const explored =
      unmeasured.find(({ health }) => nowMs >= health.measureAgainAtMs) ??
      (this.#requests >= requestsBetween ? stalest(measured, nowMs) : undefined);
    const ordered = [...measured, ...unmeasured];
    if (!explored) return ordered.map(({ target }) => target);
    this.#requests = 0;
    explored.health.measureAgainAtMs = nowMs + firstMeasureEveryMs;
    return [explored, ...ordered.filter((each) => each !== explored)].map(({ target }) => target);
  }
}

/** Without the first, which every request measures. */
function stalest(measured: readonly Measured[], nowMs: number): Measured | undefined {
  const [oldest] = measured.slice(1).toSorted((a, b) => a.health.firstByteMs.atMs - b.health.firstByteMs.atMs);
  return oldest && nowMs - oldest.health.firstByteMs.atMs > staleMs ? oldest : undefined;
}

/** Inputs of the strategies, computed only where needed. */
export interface StrategyFacts {
  random: Draw;
  /** An identifier that is the same in all turns of a conversation; null: none. */
  conversation(): string | null;
  /** Recent, in milliseconds; null: not measured. */
  firstByteMs(target: Target): number | null;
  /** For a typical request in US dollars; null: unknown. */
  typicalPrice(target: Target): number | null;
}

type Strategy = (targets: readonly Target[], facts: StrategyFacts) => readonly Target[];

const byPriority: Strategy = (targets, { random }) => orderTargets(targets, random);

export const strategies: Record<Policy['strategy'], Strategy> = {
  priority: byPriority,
  // Rotates credentials, not targets.
  'round-robin': byPriority,
  weighted: (targets, { random }) => orderByWeight(targets, random),
  // Unmeasured targets come first, so that they are measured.
  'lowest-latency': (targets, facts) => sortBy(byPriority(targets, facts), (target) => facts.firstByteMs(target) ?? 0),
  // A target of unknown price may be expensive.
  'lowest-price': (targets, facts) =>
    sortBy(byPriority(targets, facts), (target) => facts.typicalPrice(target) ?? Number.POSITIVE_INFINITY),
  sticky(targets, facts) {
    const conversation = targets.length > 1 ? facts.conversation() : null;
    if (conversation === null) return byPriority(targets, facts);
    return orderTargets(targets, ({ provider, model }) => drawFor(conversation, `${provider.id}/${model}`));
  },
};

/**
 * Rendezvous hashing: a constant from 0 to 1 for a conversation and a choice. If a choice is removed, only its own
 * conversations move.
 */
export function drawFor(conversation: string, choice: string): number {
  // FNV-1a with MurmurHash3's finalizer, since FNV alone mixes the last characters poorly.
  let hash = 0x811c9dc5;
  for (const text of [conversation, choice]) {
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Moves targets in a cooldown last, ordered by the cooldown's end. */
export function coolingLast(targets: readonly Target[], health: HealthTracker, nowMs: number): readonly Target[] {
  const isAvailable = (target: Target) => health.isAvailable(target, nowMs);
  if (targets.every(isAvailable)) return targets;
  return sortBy(targets, (target) => (isAvailable(target) ? 0 : health.untilMs(target)));
}
