/** Bounds of numbers in the configuration, for its schema and for the window's forms, which cannot read the schema. */
import { dayMs } from './units.ts';

/** Of timeouts and waits. */
export const longestTimeoutMs = dayMs;
/** Of retries and fallbacks. */
export const mostAttempts = 20;
/** Of targets, in weight and in priority. */
export const greatestWeight = 1000;
/** Of a group's answer cache. */
export const longestCacheSeconds = 31_536_000;
export const largestCacheBytes = 4_000_000_000;
