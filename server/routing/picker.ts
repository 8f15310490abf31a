/**
 * The port between the attempt loop and what is known about targets from earlier requests (health, latency, prices,
 * conversations): it orders targets and credentials, and is notified of each attempt.
 */
import type { FailureClass } from '../contract/ledger.ts';
import type { Operation } from '../contract/operations.ts';
import type { Policy } from '../contract/policy.ts';
import type { FailedWith } from '../contract/provider-views.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { Target } from './snapshot.ts';

/** The properties of a request that affect the order. */
export interface PickRequest {
  policy: Policy;
  capability: Operation;
  /** It may make something that is paid for; see `isPurchase`. */
  isPurchase: boolean;
  /** An identifier that is the same in all turns of a conversation; null: none. Parses the body. */
  conversation(): string | null;
  /** The origin of the conversation's newest reasoning, which only that account can read; null: none. Scans the body. */
  reasoningOrigin(): ReasoningOrigin | null;
}

export interface ReasoningOrigin {
  /** A provider's id. */
  provider: string;
  /** The provider's name for the model. */
  model: string;
  /** A credential's id; empty if the provider needs none. */
  account: string;
}

/** The outcome of an attempt. */
export interface AttemptReport {
  target: Target;
  credentialId: string | null;
  /** Null: it succeeded. */
  failure: FailureClass | null;
  /** Absent: nothing is known of it, or it succeeded. */
  failedWith?: FailedWith;
  /** Whether the credential may not use the model. */
  isDenied?: boolean;
  /**
   * Whether the upstream itself reported the failure. False if this machine got no response, or none in an API's
   * format.
   */
  isAnswer: boolean;
  /** Null if there was no response. */
  firstByteMs: number | null;
  /** The upstream's `Retry-After`. */
  retryAfterMs: number | null;
}

/** In their order; `null` for a provider that needs none. */
export function configuredCredentials({ provider }: Target): readonly (UpstreamCredential | null)[] {
  return provider.credentials.length === 0 ? withoutCredential : provider.credentials;
}

const withoutCredential: readonly null[] = [null];

export interface Picker {
  /** Best first. Contains all targets, including those in a cooldown. */
  order(targets: readonly Target[], request: PickRequest): readonly Target[];
  /** Best first; `null` for a provider that needs none. Empty if the target must not be asked now: all were refused. */
  credentials(target: Target, request: PickRequest): readonly (UpstreamCredential | null)[];
  /**
   * For how many milliseconds a refused credential must not be asked, if no other can answer; 0: one request may try it now. Null if
   * it was not refused.
   */
  refusedForMs(target: Target, credentialId: string | null): number | null;
  /**
   * For how many milliseconds the upstream has asked not to be asked, by each of the target's credentials or by this one; 0: it has
   * not.
   */
  heldBackForMs(target: Target, onlyCredential: string | null): number;
  /**
   * How long a request to which nothing else is left waits for the end of a cooldown; 0: there is none, null: it is not worth the
   * wait.
   */
  worthWaitingMs(target: Target, credentialId: string | null): number | null;
  /** False: only if no other target is left. */
  isAvailable(target: Target): boolean;
  /**
   * For the trial of a target that was silent: the time after which another one is asked in parallel, so that the client
   * need not wait for the whole timeout. 0: no trial.
   */
  trialPatienceMs(target: Target): number;
  /** An attempt begins; other requests then do not pick a target on trial. Must be followed by `report`. */
  began(target: Target, credentialId: string | null): void;
  /** The first content has arrived; the target counts as answering. */
  answers(target: Target, credentialId: string | null): void;
  report(attempt: AttemptReport): void;
}

/**
 * For requests that only one provider can answer and that say nothing about its models: ignores health and reports none, since a
 * key that may not read files may still be good for chat. But a credential that was refused is asked as rarely as by any other
 * request, and an answer ends the refusal.
 */
export function onlyTarget(picker: Picker): Picker {
  const isRefused = (target: Target, credentialId: string | null) => picker.refusedForMs(target, credentialId) !== null;
  return {
    order: (targets) => targets,
    credentials: (target) => configuredCredentials(target).filter((each) => !isRefused(target, each?.id ?? null)),
    refusedForMs: (target, credentialId) => picker.refusedForMs(target, credentialId),
    heldBackForMs: () => 0,
    worthWaitingMs: () => 0,
    isAvailable: () => true,
    trialPatienceMs: () => 0,
    began(target, credentialId) {
      if (isRefused(target, credentialId)) picker.began(target, credentialId);
    },
    answers() {},
    report(attempt) {
      if (isRefused(attempt.target, attempt.credentialId)) picker.report(attempt);
    },
  };
}

/** A target's draw, from 0 to 1: random, or constant for a conversation. */
export type Draw = (target: Target) => number;

/**
 * Orders targets by priority, and equal ones at random by weight: a target of weight 2 comes first twice as often as one of
 * weight 1. Weight 0 comes after all others of its priority.
 */
export function orderTargets(targets: readonly Target[], draw: Draw = Math.random): readonly Target[] {
  return sortByDraw(targets, draw, (a, b) => a.priority - b.priority);
}

/** At random by weight alone. */
export function orderByWeight(targets: readonly Target[], draw: Draw = Math.random): readonly Target[] {
  return sortByDraw(targets, draw, () => 0);
}

/** Efraimidis and Spirakis, "Weighted random sampling with a reservoir": sort by random ** (1 / weight), descending. */
function sortByDraw(
  targets: readonly Target[],
  draw: Draw,
  compare: (a: Target, b: Target) => number,
): readonly Target[] {
  if (targets.length < 2) return targets;
  const drawn = targets.map((target) => ({
    target,
    draw: target.weight > 0 ? draw(target) ** (1 / target.weight) : -1,
  }));
  drawn.sort((a, b) => compare(a.target, b.target) || b.draw - a.draw);
  return drawn.map(({ target }) => target);
}

/** Lowest rank first; stable. A rank may be infinite. */
export function sortBy(targets: readonly Target[], rank: (target: Target) => number): readonly Target[] {
  const ranked = targets.map((target) => ({ target, rank: rank(target) }));
  return ranked.sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank)).map(({ target }) => target);
}

/** Moves targets last whose provider only accepts any name, whatever the strategy. */
export function anyNameLast(targets: readonly Target[]): readonly Target[] {
  const last = targets.filter(({ takesAnyName }) => takesAnyName);
  return last.length === 0 ? targets : [...targets.filter(({ takesAnyName }) => !takesAnyName), ...last];
}
