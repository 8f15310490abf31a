import { describe } from 'vitest';
import { fakeLimiter } from './fake-limiter.ts';
import { describeLimiter } from './limiter-contract.ts';

describe('a limiter that counts alone', () => {
  describeLimiter(async () => {
    const fake = fakeLimiter();
    const { limiter, told } = fake;
    return {
      limiters: [limiter, limiter, limiter],
      told,
      finish: (_, id, used, more) => fake.finish(id, used, more),
      settled: async () => {},
    };
  });
});
