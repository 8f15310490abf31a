/** No parser takes longer than its input explains, whatever clients and upstreams think of; at a stretch: `held-loop.test.ts`. */
import { describe, expect, test } from 'vitest';
import { leastWorkOf } from '../support/cpu-work.ts';
import { inputOf, worstCases } from './worst-cases.ts';

const smallestBytes = 64 * 1024;
/** Work that grows by the square takes 64 times as long. */
const factor = 8;
const mostGrowth = 3;
/** What is done sooner cannot be told from noise. */
const noiseWork = 3;
/** No parser that is sound takes so long for the smallest input; what does would take minutes for the largest. */
const hopelessWork = 300;

/** By how much the work grows beyond what the length explains, or null. */
async function overgrown(work: (bytes: number) => () => unknown): Promise<string | null> {
  const once = Math.max(noiseWork, await leastWorkOf(work(smallestBytes), hopelessWork));
  if (once >= hopelessWork) return `${smallestBytes} bytes take ${once} times the reference work`;
  const most = once * factor * mostGrowth;
  const least = await leastWorkOf(work(factor * smallestBytes), most);
  return least >= most ? `${factor} times as much takes ${least / once} times as long` : null;
}

test('what looks at each byte from many others is found', async () => {
  const growing = (bytes: number) => () => {
    let sum = 0;
    for (let from = 0; from < bytes; from += 512) for (let to = 0; to < from; to++) sum += to & from;
    return sum;
  };
  expect(await overgrown(growing)).toMatch(/times as long$/);
});

describe.each(Object.entries(worstCases))('%s', (_name, { inputs, run }) => {
  test.each(Object.entries(inputs))('takes no longer than its length explains: %s', async (_input, repeated) => {
    const work = (bytes: number) => {
      const input = inputOf(repeated, bytes);
      return () => run(input);
    };
    expect(await overgrown(work)).toBeNull();
  });
});
