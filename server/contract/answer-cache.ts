/** The response cache of a group: its settings and the views of it. */
import { z } from 'zod';
import { largestCacheBytes, longestCacheSeconds } from './bounds.ts';

export const cacheSchema = z.strictObject({
  ttlSeconds: z.number().int().min(1).max(longestCacheSeconds).default(3_600).describe('How long an answer is used.'),
  maxBytes: z
    .number()
    .int()
    .min(100_000)
    .max(largestCacheBytes)
    .default(64_000_000)
    .describe('Maximum size of the stored answers in bytes; beyond it, the least recently used ones are removed.'),
  forced: z
    .boolean()
    .default(false)
    .describe('Also keep answers that the same request may not get again, such as those with a temperature above 0.'),
  coalesce: z
    .boolean()
    .default(false)
    .describe('Equal requests that arrive while the first one runs wait for its answer.'),
});

export type CacheSettings = z.infer<typeof cacheSchema>;

/** The cache of one group; counts start with the engine. */
export interface CacheView {
  groupId: string;
  /** Stored answers and their bytes. */
  entries: number;
  bytes: number;
  hits: number;
  /** Requests that were answered together with an equal running request. */
  shared: number;
  misses: number;
  /** The cost of the original requests in US dollars, as far as known. */
  savedUsd: number;
}

export interface ClearedCache {
  entries: number;
  bytes: number;
}
