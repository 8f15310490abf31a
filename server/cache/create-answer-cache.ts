import type { Config } from '../contract/config.ts';
import { AnswerCache } from './answer-cache.ts';

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
