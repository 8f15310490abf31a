/** Answers kept for equal requests. */
import type { CacheView, ClearedCache } from '../contract/answer-cache.ts';
import type { Config } from '../contract/config.ts';
import { GroupCache } from './group-cache.ts';

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
