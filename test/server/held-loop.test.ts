/** No parser holds the loop for long, whatever clients and upstreams think of. */
import { describe, expect, test } from 'vitest';
import { leastWorkOf } from '../support/cpu-work.ts';
import { inputOf, worstCases } from './worst-cases.ts';

/** 25 ms at a stretch are meant, which is some 20 times the reference; and several runs of a case are one of a request. */
const mostWorkAtOnce = 150;

describe.each(Object.entries(worstCases))('%s', (_name, { atOnceBytes, inputs, run }) => {
  test.each(Object.entries(inputs))('does not hold the loop: %s', async (_input, repeated) => {
    const input = inputOf(repeated, atOnceBytes);
    expect(await leastWorkOf(() => run(input), mostWorkAtOnce)).toBeLessThan(mostWorkAtOnce);
  });
});
