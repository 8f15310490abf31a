import type { Pace } from '../exchange/answer/local-reply.ts';

const maxFactor = 1_000;

/**
 * `instant`: all at once; `recorded`: at the recorded times; a number: that many times as fast. Undefined for anything
 * else.
 */
export function parsePace(text: string): Pace | undefined {
  if (text === 'instant') return 0;
  if (text === 'recorded') return 1;
  const factor = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  return factor > 0 && factor <= maxFactor ? 1 / factor : undefined;
}
