/** No parser takes longer than its input explains, whatever clients and upstreams think of. */
import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../support/cpu-time.ts';
import { inputOf, worstCases } from './worst-cases.ts';

const smallestBytes = 64 * 1024;
/** Eight times as much takes eight times as long, and by the square 64 times. */
const mostGrowth = 3;
/** What is done sooner cannot be told from noise. */
const noiseMs = 4;
/** 25 ms at a stretch are meant; this machine may be slow, and several runs of a case are one of a request. */
const mostAtOnceMs = 150;

describe.each(Object.entries(worstCases))('%s', (_name, { atOnceBytes, inputs, run }) => {
  test.each(Object.entries(inputs))('takes no longer than its length explains: %s', async (_input, repeated) => {
    const onceMs = Math.max(noiseMs, await cpuMsOf(() => run(inputOf(repeated, smallestBytes))));
    for (const factor of [2, 4, 8]) {
      const input = inputOf(repeated, factor * smallestBytes);
      const mostMs = onceMs * factor * mostGrowth;
      expect(await leastMs(() => run(input), mostMs), `${factor} times as much`).toBeLessThan(mostMs);
    }
  });

  test.each(Object.entries(inputs))('does not hold the loop: %s', async (_input, repeated) => {
    const input = inputOf(repeated, atOnceBytes);
    expect(await leastMs(() => run(input), mostAtOnceMs)).toBeLessThan(mostAtOnceMs);
  });
});

/** Of a few runs, until one is short enough: the first may have had the code compiled, or memory collected. */
async function leastMs(work: () => unknown, enoughMs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4 && least >= enoughMs; round++) least = Math.min(least, await cpuMsOf(work));
  return least;
}
