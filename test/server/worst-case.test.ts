/**
 * The time of every parser grows linearly with its input, and none blocks the event loop for long, whatever clients and
 * upstreams send. What translates is tested in `apis/translation/worst-translations.test.ts`, at the same time.
 *
 * @suite measured
 */
import { expect, test } from 'vitest';
import { overdone, testWorstCases, worstReading } from './worst-cases.ts';

test('a quadratic scan is detected', async () => {
  const growing = (bytes: number) => () => {
    let sum = 0;
    for (let from = 0; from < bytes; from += 256) for (let to = 0; to < from; to++) sum += to & from;
    return sum;
  };
  // Before it is compiled, the short one takes so long that the growth could not be seen.
  for (let round = 0; round < 20; round++) growing(16 * 1024)();
  expect(await overdone(growing)).toMatch(/times as long$/);
});

test('a long block of the event loop is detected', async () => {
  const megabyte = 1024 * 1024;
  const blocking = (bytes: number) => () => {
    let sum = 0;
    for (let round = 0; round < (bytes > megabyte ? 600 : 1); round++)
      for (let at = 0; at < megabyte; at++) sum += at & round;
    return sum;
  };
  expect(await overdone(blocking, 2 * megabyte)).toMatch(/bytes at once/);
});

testWorstCases(worstReading);
