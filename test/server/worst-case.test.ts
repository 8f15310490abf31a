/**
 * The time of every parser grows linearly with its input, whatever clients and upstreams send. Blocking of the event
 * loop is tested in `held-loop.test.ts`.
 *
 * @suite measured
 */
import { describe, expect, test } from 'vitest';
import { leastWorkOf } from '../support/cpu-work.ts';
import { inputOf, worstCases } from './worst-cases.ts';

const smallestBytes = 64 * 1024;
/** Quadratic work takes 64 times as long. */
const factor = 8;
const mostGrowth = 3;
/** Shorter durations cannot be distinguished from noise. */
const noiseWork = 3;
/** No acceptable parser takes this long for the smallest input. One that does would take minutes for the largest. */
const hopelessWork = 300;

/** Describes disproportionate growth of the work; null if there is none. */
async function overgrown(work: (bytes: number) => () => unknown): Promise<string | null> {
  const once = Math.max(noiseWork, await leastWorkOf(work(smallestBytes), hopelessWork));
  if (once >= hopelessWork) return `${smallestBytes} bytes take ${once} times the reference work`;
  const most = once * factor * mostGrowth;
  const least = await leastWorkOf(work(factor * smallestBytes), most);
  return least >= most ? `${factor} times as much takes ${least / once} times as long` : null;
}

test('a quadratic scan is detected', async () => {
  const growing = (bytes: number) => () => {
    let sum = 0;
    for (let from = 0; from < bytes; from += 256) for (let to = 0; to < from; to++) sum += to & from;
    return sum;
  };
  // Before it is compiled, the short one takes so long that the growth could not be seen.
  for (let round = 0; round < 20; round++) growing(smallestBytes / 4)();
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
