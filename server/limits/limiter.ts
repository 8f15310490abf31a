/**
 * Admits requests of keys and groups with limits, and counts their usage. Admission is one step: if no limit of key or
 * group is reached, it reserves a place and an estimate of tokens and cost; when the request ends, the actual usage
 * replaces the reservation.
 *
 * Two implementations: `local-limiter.ts` counts in memory, `team/valkey/` together with other replicas.
 */
import type { RequestRecord } from '../contract/ledger.ts';
import type { Limited, LimitMeter, LimitScope } from '../contract/limits.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { Amounts } from '../store/sqlite/usage-history.ts';
import type { Estimate } from './account.ts';

/** Headers of a response by name. */
export type RateHeaders = Record<string, string>;

export interface Limiter {
  /**
   * Admits a request, or throws (rejects with) a GatewayError without counting anything. Returns the `x-ratelimit`
   * headers, none without a limit per minute. An admitted request must be `finished`. Requests that cost nothing pass
   * `free` itself as estimate and are not subject to budgets. A promise only with other replicas.
   */
  admit(requestId: string, subjects: readonly Limited[], estimate: Estimate): MaybePromise<RateHeaders>;
  /** For callers that cannot wait: what other replicas have counted lately may be missing. Throws a GatewayError. */
  admitAtOnce(requestId: string, subjects: readonly Limited[], estimate: Estimate): RateHeaders;
  /**
   * Throws a GatewayError if a hard budget of these is spent, or cannot be known; for a session that is already open.
   * Reserves nothing.
   */
  checkBudgets(limitedBy: readonly Limited[]): void;
  /**
   * Reserves the remaining cost of a job in the hard budgets of key and group until `release`. Must be called before
   * `finished` of its request, so that the amount is reserved throughout.
   */
  hold(job: string, owner: JobOwner, most: Amounts): void;
  release(job: string, owner: JobOwner): void;
  /** Counts a request that is in the ledger. */
  finished(record: RequestRecord): void;
  meters(limited: Limited): LimitMeter[];
  /** Brings what `meters` shows up to date. A promise only with other replicas; it never rejects. */
  refresh(limitedBy: readonly Limited[]): MaybePromise<void>;
  /** Loads the amounts spent by these, one after the other, so that they are stored in the budgets' file. Does not reject. */
  preloadSpent(limitedBy: Iterable<Limited>): Promise<void>;
  /** Called when a key is removed, since its id may be reused. */
  forget(scope: LimitScope, id: string): void;
}

/** Who pays for a job. */
export interface JobOwner {
  keyId: string | null;
  groupId: string;
}

/** A key, group or person. */
export interface LimitSubject {
  scope: LimitScope;
  id: string;
}

/** A map by key or group. With 100,000 keys, a composed string as map key would cost each request microseconds. */
export class LimitSubjectMap<Value> {
  readonly #maps: Record<LimitScope, Map<string, Value>> = { key: new Map(), group: new Map(), person: new Map() };

  get isEmpty(): boolean {
    return this.#maps.key.size + this.#maps.group.size + this.#maps.person.size === 0;
  }

  get({ scope, id }: LimitSubject): Value | undefined {
    return this.#maps[scope].get(id);
  }

  set({ scope, id }: LimitSubject, value: Value): void {
    this.#maps[scope].set(id, value);
  }

  delete({ scope, id }: LimitSubject): void {
    this.#maps[scope].delete(id);
  }

  *subjects(): IterableIterator<LimitSubject> {
    for (const scope of ['key', 'group', 'person'] as const)
      for (const id of this.#maps[scope].keys()) yield { scope, id };
  }

  *values(): IterableIterator<Value> {
    yield* this.#maps.key.values();
    yield* this.#maps.group.values();
    yield* this.#maps.person.values();
  }
}
