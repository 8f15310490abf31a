/**
 * No parser blocks the event loop for long, whatever clients and upstreams send.
 *
 * @suite measured
 */
import { describe, expect, test } from 'vitest';
import { leastWorkOf } from '../support/cpu-work.ts';
import { inputOf, worstCases } from './worst-cases.ts';

/**
 * The limit is meant to be 25 ms at a time, about 20 times the reference. Several runs of a case correspond to one of a
 * request.
 */
const mostWorkAtOnce = 150;

describe.each(Object.entries(worstCases))('%s', (_name, { atOnceBytes, inputs, run }) => {
  test.each(Object.entries(inputs))('does not block the loop: %s', async (_input, repeated) => {
    const input = inputOf(repeated, atOnceBytes);
    expect(await leastWorkOf(() => run(input), mostWorkAtOnce)).toBeLessThan(mostWorkAtOnce);
  });
});
