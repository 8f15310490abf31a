/** Answers kept for equal requests. */
import type { CacheView, ClearedCache } from '../contract/answer-cache.ts';
import type { Config } from '../contract/config.ts';
import type { Usage } from '../contract/ledger.ts';

export class AnswerCache {
  readonly #groups = new Map<string, GroupCache>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Created on first use. */
  of(groupId: string): GroupCache {
    const present = this.#groups.get(groupId);
    if (present) return present;
    const newCache = new GroupCache(this.#nowMs);
    this.#groups.set(groupId, newCache);
    return newCache;
  }

  /** Null clears all groups. Answers that are still arriving are not stored either. */
  clear(groupId: string | null): ClearedCache {
    const cleared = { entries: 0, bytes: 0 };
    for (const [id, group] of this.#groups) {
      if (groupId !== null && id !== groupId) continue;
      cleared.entries += group.entries;
      cleared.bytes += group.bytes;
      group.clear();
    }
    return cleared;
  }

  /** Drops all other groups, whose caches have been turned off. */
  keepOnly(groupIds: ReadonlySet<string>): void {
    for (const id of this.#groups.keys()) if (!groupIds.has(id)) this.#groups.delete(id);
  }

  view(groupId: string): CacheView {
    const group = this.#groups.get(groupId);
    const emptyView = { entries: 0, bytes: 0, hits: 0, shared: 0, misses: 0, savedUsd: 0 };
    return { groupId, ...(group?.view() ?? emptyView) };
  }
}

interface ConfigChanges {
  onChange(listener: (now: { config: Pick<Config, 'groups'> }) => void): unknown;
}

/** A cache that drops the answers of groups for which caching is turned off. */
export function createAnswerCache(config: ConfigChanges): AnswerCache {
  const cache = new AnswerCache();
  config.onChange(({ config: { groups } }) => {
    cache.keepOnly(new Set(groups.filter((group) => group.cache !== null).map(({ id }) => id)));
  });
  return cache;
}

export interface CachedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Usage of the request that was answered; null if unknown. */
  usage: Usage | null;
  costUsd: number | null;
  /** The upstream model that answered. */
  modelServed: string | null;
}

interface Entry {
  answer: CachedAnswer;
  bytes: number;
  storedAtMs: number;
}

/** A request whose answer is pending; equal requests may wait for it. */
export interface Flight {
  /** Null if there is no reusable answer. Never rejects. */
  landed: Promise<CachedAnswer | null>;
  land(answer: CachedAnswer | null): void;
}

/** Approximate size of an entry besides its body. */
const entryBytes = 1024;

/** The answers of one group. The least recently used come first in the map. */
export class GroupCache {
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #flights = new Map<string, Flight>();
  readonly #counts = { hits: 0, shared: 0, misses: 0, savedUsd: 0 };
  #bytes = 0;
  #generation = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Changes when the cache is cleared; an answer is stored only if it is still the same as when its request began. */
  get generation(): number {
    return this.#generation;
  }

  find(key: string, ttlMs: number): CachedAnswer | null {
    const entry = this.#entries.get(key);
    if (!entry) return null;
    this.#remove(key, entry);
    const ageMs = this.#nowMs() - entry.storedAtMs;
    // An entry must not last longer because the clock was set back.
    if (ageMs < 0 || ageMs >= ttlMs) return null;
    this.#add(key, entry);
    return entry.answer;
  }

  store(key: string, answer: CachedAnswer, { generation, maxBytes }: { generation: number; maxBytes: number }): void {
    const bytes = answer.body.length + entryBytes;
    if (generation !== this.#generation || bytes > maxBytes) return;
    const replaced = this.#entries.get(key);
    if (replaced) this.#remove(key, replaced);
    this.#add(key, { answer, bytes, storedAtMs: this.#nowMs() });
    for (const [oldKey, old] of this.#entries) {
      if (this.#bytes <= maxBytes) break;
      this.#remove(oldKey, old);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#flights.clear();
    this.#bytes = 0;
    this.#generation++;
  }

  flight(key: string): Flight | null {
    return this.#flights.get(key) ?? null;
  }

  /** The flight must be landed, whatever the outcome of its request. */
  startFlight(key: string): Flight {
    const { promise, resolve } = Promise.withResolvers<CachedAnswer | null>();
    const flight: Flight = {
      landed: promise,
      land: (answer) => {
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        resolve(answer);
      },
    };
    this.#flights.set(key, flight);
    return flight;
  }

  count(result: 'hits' | 'shared' | 'misses', savedUsd: number | null): void {
    this.#counts[result]++;
    this.#counts.savedUsd += savedUsd ?? 0;
  }

  view(): Omit<CacheView, 'groupId'> {
    return { entries: this.entries, bytes: this.bytes, ...this.#counts };
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}
