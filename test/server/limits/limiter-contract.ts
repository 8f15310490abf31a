/** The contract of every limiter, whether it counts alone or together with others. */
import { beforeEach, describe, expect, test } from 'vitest';
import { GatewayError } from '../../../server/contract/errors.ts';
import type { RequestRecord } from '../../../server/contract/ledger.ts';
import type { Limited, LimitReached } from '../../../server/contract/limits.ts';
import { type Estimate, noCharge } from '../../../server/limits/account.ts';
import type { Limiter, RateHeaders } from '../../../server/limits/limiter.ts';
import type { Amounts } from '../../../server/store/sqlite/usage-history.ts';
import { attemptRecord } from '../../support/stand-ins.ts';
import { budget, cent, exactly, limited, none } from './fake-limiter.ts';

export interface CountingTogether {
  /** They count together, or may all be the same limiter. */
  readonly limiters: readonly [Limiter, Limiter, Limiter];
  readonly told: LimitReached[];
  /** Writes to the ledger of the limiter and then to the limiter, as the gateway does. */
  finish(limiter: Limiter, id: string, used: Amounts, more?: Partial<RequestRecord>): void;
  /** Resolves when all ended requests are counted. */
  settled(): Promise<void>;
}

const unreached = { attempts: [attemptRecord({ connectMs: null, status: null })] };
const noHeaders: RateHeaders = {};
let asked = 0;

export async function admits(
  limiter: Limiter,
  subjects: Limited[],
  estimate: Estimate = exactly(none),
  id = `r${asked++}`,
) {
  try {
    return { id, headers: await limiter.admit(id, subjects, estimate), refusal: null };
  } catch (error) {
    if (error instanceof GatewayError) return { id, headers: noHeaders, refusal: error };
    throw error;
  }
}

export function describeLimiter(open: () => Promise<CountingTogether>): void {
  let together: CountingTogether;
  beforeEach(async () => {
    together = await open();
  });

  /** Concurrent requests, distributed over all limiters. */
  const ask = (times: number, subjects: Limited[], estimate?: Estimate) =>
    Promise.all(Array.from({ length: times }, (_, index) => admits(limiterAt(together, index), subjects, estimate)));
  const passed = async (...asking: Parameters<typeof ask>) =>
    (await ask(...asking)).filter(({ refusal }) => refusal === null).length;

  describe('of 500 requests at the same time', () => {
    test('exactly as many pass as a key may send in a minute', async () => {
      expect(await passed(500, [limited({ requestsPerMinute: 137 })])).toBe(137);
    });

    test('exactly as many pass as a group may send in a minute, whichever of its keys they bear', async () => {
      const group = limited({ requestsPerMinute: 137 }, 'group');
      const keys = [1, 2, 3].map((id) => ({ ...limited({ requestsPerMinute: 400 }), id: `k${id}` }));
      const counts = await Promise.all(keys.map((key) => passed(167, [key, group])));
      expect(counts.reduce((sum, count) => sum + count)).toBe(137);
    });

    test('exactly as many pass as a person may send in a minute, whichever of their keys they bear, in whatever group', async () => {
      const person = limited({ requestsPerMinute: 137 }, 'person');
      const keys = [1, 2, 3].map((id) => ({ ...limited({ requestsPerMinute: 400 }), id: `k${id}`, groupId: `g${id}` }));
      const groups = keys.map(({ groupId }) => ({ ...limited({ concurrent: 500 }, 'group'), id: groupId, groupId }));
      const counts = await Promise.all(
        keys.map((key, index) => passed(167, [key, person, groups[index] ?? limited({}, 'group')])),
      );
      expect(counts.reduce((sum, count) => sum + count)).toBe(137);
    });

    test('exactly as many pass as tokens are left in a minute', async () => {
      const tenTokens = exactly({ usd: 0, tokens: 10 });
      expect(await passed(500, [limited({ tokensPerMinute: 990 })], tenTokens)).toBe(99);
    });

    test('exactly as many run as may run at the same time, and each that ends makes room', async () => {
      const subject = limited({ concurrent: 21 });
      const all = await ask(500, [subject]);
      const running = all.flatMap(({ id, refusal }, index) => (refusal ? [] : [{ id, index }]));
      expect(running).toHaveLength(21);
      for (const { id, index } of running.slice(0, 9)) together.finish(limiterAt(together, index), id, none);
      await together.settled();
      expect(await passed(100, [subject])).toBe(9);
    });

    test.each([
      [10, 25],
      [10.1, 26],
    ])(
      'as many pass as a hard budget of $%s pays for in the worst case, the last one in part',
      async (amount, count) => {
        const most = { likely: none, most: { usd: 0.4, tokens: 0 } };
        expect(await passed(500, [budget(amount, 'day')], most)).toBe(count);
      },
    );
  });

  test('a request that its group refuses takes nothing from its key', async () => {
    const key = limited({ requestsPerMinute: 5, concurrent: 3 });
    expect(await passed(10, [key, limited({ requestsPerMinute: 1 }, 'group')])).toBe(1);
    expect(await passed(10, [key])).toBe(2);
  });

  test('a request without a provider is given back', async () => {
    const subject = limited({ requestsPerMinute: 2 });
    const [limiter] = together.limiters;
    const { id } = await admits(limiter, [subject]);
    together.finish(limiter, id, none, unreached);
    await together.settled();
    expect(await passed(9, [subject])).toBe(2);
  });

  test('tokens count as they were really used', async () => {
    const subject = limited({ tokensPerMinute: 100 });
    const [first, second] = together.limiters;
    const one = await admits(first, [subject], exactly({ usd: 0, tokens: 90 }));
    together.finish(first, one.id, { usd: 0, tokens: 40 });
    await together.settled();
    const other = await admits(second, [subject], exactly({ usd: 0, tokens: 10 }));
    expect(other.headers['x-ratelimit-remaining-tokens']).toBe('50');
    together.finish(second, other.id, { usd: 0, tokens: 70 });
    await together.settled();
    expect((await admits(first, [subject])).refusal?.code).toBe('token_limit_reached');
  });

  test.each([
    [0.5, 0.01, 50],
    [1, 0.1, 10],
    [1, 0.01, 100],
    [0.3, 0.1, 3],
    [0.000_000_3, 0.000_000_1, 3],
  ])('a hard budget of $%s lets exactly as many requests of $%s pass as it pays for', async (amount, price, count) => {
    const subject = budget(amount, 'day');
    let passes = 0;
    for (let index = 0; index < count + 3; index++) {
      const limiter = limiterAt(together, index);
      const { id, refusal } = await admits(limiter, [subject]);
      if (refusal) continue;
      passes++;
      together.finish(limiter, id, { usd: price, tokens: 1 });
      await together.settled();
    }
    expect(passes).toBe(count);
  });

  test('a hard budget is spent by what requests cost, wherever they ran', async () => {
    const subject = budget(0.02, 'day');
    for (const limiter of [...together.limiters].slice(0, 2)) {
      const { id } = await admits(limiter, [subject], exactly(cent));
      together.finish(limiter, id, cent);
      await together.settled();
    }
    const { refusal } = await admits(together.limiters[2], [subject], exactly(cent));
    expect(refusal?.code).toBe('budget_spent');
    expect((await admits(together.limiters[2], [subject], noCharge)).refusal).toBeNull();
  });

  test('an open session learns of a spent hard budget, whatever still runs, and wherever it was spent', async () => {
    const subject = budget(0.02, 'day');
    const [first, second] = together.limiters;
    const spending = [await admits(second, [subject]), await admits(second, [subject])];
    const running = await admits(first, [subject], exactly({ usd: 5, tokens: 0 }));
    expect(codeOf(() => first.checkBudgets([subject]))).toBeNull();
    for (const { id } of spending) together.finish(second, id, cent);
    await together.settled();
    // Another replica has only asked by the second check.
    codeOf(() => first.checkBudgets([subject]));
    await together.settled();
    await expect.poll(() => codeOf(() => first.checkBudgets([subject]))).toBe('budget_spent');
    together.finish(first, running.id, none);
  });

  test('a soft budget refuses nothing, and is told at 80 and 100 percent, once', async () => {
    const subject = budget(0.1, 'day', { hard: false });
    for (let index = 0; index < 14; index++) {
      const limiter = limiterAt(together, index);
      const { id, refusal } = await admits(limiter, [subject], exactly(cent));
      expect(refusal).toBeNull();
      together.finish(limiter, id, cent);
      await together.settled();
    }
    expect(together.told.map(({ percent }) => percent)).toEqual([80, 100]);
  });

  test('a job holds its part of a hard budget until it is released', async () => {
    const subject = budget(1, 'day');
    const [first, second] = together.limiters;
    const owner = { keyId: 'k', groupId: 'g' };
    const { id } = await admits(first, [subject], exactly(none));
    first.hold('response g r1', owner, { usd: 1, tokens: 0 });
    together.finish(first, id, none);
    await together.settled();
    expect((await admits(second, [subject])).refusal?.code).toBe('request_limit_reached');
    first.release('response g r1', owner);
    await together.settled();
    expect((await admits(second, [subject])).refusal).toBeNull();
  });

  test('a job holds its part of the budget of whoever owns its key', async () => {
    const [first, second] = together.limiters;
    const person = { ...budget(1, 'day'), ...limited({}, 'person'), limits: budget(1, 'day').limits };
    const owner = { keyId: 'k', groupId: 'g' };
    const { id } = await admits(first, [person], exactly(none));
    first.hold('response g r3', owner, { usd: 1, tokens: 0 });
    together.finish(first, id, none);
    await together.settled();
    expect((await admits(second, [person])).refusal?.message).toContain('of the person who owns this key');
    first.release('response g r3', owner);
    await together.settled();
    expect((await admits(second, [person])).refusal).toBeNull();
  });

  test('a job holds its part of a hard budget that was not asked before', async () => {
    const [first] = together.limiters;
    first.hold('response g r2', { keyId: 'k', groupId: 'g' }, { usd: 1, tokens: 0 });
    expect((await admits(first, [budget(1, 'day')])).refusal?.code).toBe('request_limit_reached');
  });

  test('budgets that differ only in what happens then are told of once', async () => {
    const budgets = [true, false].map((hard) => ({ unit: 'usd' as const, amount: 1e-7, per: 'day' as const, hard }));
    const subject = limited({ budgets });
    const [first] = together.limiters;
    for (const usd of [9e-8, 3e-8]) {
      const { id } = await admits(first, [subject]);
      together.finish(first, id, { usd, tokens: 0 });
      await together.settled();
    }
    expect(together.told.map(({ percent }) => percent)).toEqual([80, 100]);
  });

  test('a budget of which amounts are rounded is told of at 80 and 100 percent, once', async () => {
    const subject = budget(1e-7, 'day', { hard: false });
    const [first] = together.limiters;
    for (let index = 0; index < 14; index++) {
      const { id } = await admits(first, [subject]);
      together.finish(first, id, { usd: 1e-8, tokens: 0 });
      await together.settled();
    }
    expect(together.told.map(({ percent }) => percent)).toEqual([80, 100]);
  });

  test('a part of a running request takes no place, but requests and tokens', async () => {
    const subject = limited({ concurrent: 1, requestsPerMinute: 2 });
    const [first] = together.limiters;
    await admits(first, [subject]);
    const part = { ...exactly(none), isPart: true } as const;
    first.admitAtOnce('part', [subject], part);
    await together.settled();
    expect((await admits(together.limiters[1], [subject], part)).refusal?.code).toBe('request_limit_reached');
  });

  test('a refusal says how long to wait', async () => {
    const subject = limited({ requestsPerMinute: 1 });
    await admits(together.limiters[0], [subject]);
    const { refusal } = await admits(together.limiters[1], [subject]);
    const wait = refusal?.retryAfterSeconds ?? 0;
    expect(wait).toBeGreaterThan(55);
    expect(wait).toBeLessThanOrEqual(61);
    expect(refusal?.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '0' });
  });

  test('meters show what all have used', async () => {
    const subject = limited({
      requestsPerMinute: 9,
      concurrent: 9,
      budgets: [{ unit: 'tokens', amount: 99, per: 'total' }],
    });
    const [first, second, third] = together.limiters;
    const { id } = await admits(first, [subject], exactly({ usd: 0, tokens: 5 }));
    await admits(second, [subject], exactly(none));
    together.finish(first, id, { usd: 0, tokens: 7 });
    await together.settled();
    await third.refresh([subject]);
    const used = Object.fromEntries(third.meters(subject).map((meter) => [meter.kind, meter.used]));
    expect(used).toEqual({ requests: 2, concurrent: 1, budget: 7 });
  });

  test('changed limits hold at once, and keep what was counted', async () => {
    expect(await passed(9, [limited({ requestsPerMinute: 3, concurrent: 9 })])).toBe(3);
    expect(await passed(9, [limited({ requestsPerMinute: 5, concurrent: 9 })])).toBe(2);
    expect(await passed(9, [limited({ requestsPerMinute: 99, concurrent: 7 })])).toBe(2);
  });

  test('a key that was removed leaves nothing to the next one of its id', async () => {
    const subject = limited({ requestsPerMinute: 1 });
    await admits(together.limiters[0], [subject]);
    for (const limiter of together.limiters) limiter.forget('key', 'k');
    await together.settled();
    expect((await admits(together.limiters[1], [subject])).refusal).toBeNull();
  });
}

function limiterAt({ limiters }: CountingTogether, index: number): Limiter {
  const limiter = limiters[index % 3];
  if (!limiter) throw new Error('There are three.');
  return limiter;
}

function codeOf(check: () => void): string | null {
  try {
    check();
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
  return null;
}
