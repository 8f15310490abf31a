/** Limits with an asynchronous ledger, such as that of several replicas. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { budget, dayMs, exactly, fakeLimiter, limited, none } from './fake-limiter.ts';

const estimate = exactly(none);
const tenDollars = budget(10, 'day', { hard: true });

describe('a budget of several replicas', () => {
  let faked: ReturnType<typeof fakeLimiter>;
  beforeEach(() => {
    faked = fakeLimiter(undefined, { isLater: true });
  });
  const spendElsewhere = (usd: number) =>
    faked.rows.push({ key: 'k', group: 'g', startedAt: faked.clock.wallMs, used: { usd, tokens: 0, unpriced: 0 } });
  const admit = (id: string) => faked.limiter.admit(id, [tenDollars], estimate);
  const used = () => faked.limiter.meters(tenDollars)[0]?.used;

  test('refuses requests until it is known what was spent', async () => {
    spendElsewhere(4);
    expect(() => admit('one')).toThrow('cannot be read');
    await setImmediate();
    admit('one');
    expect(used()).toBe(4);
  });

  test('learns within seconds what other replicas have spent, and counts its own usage once', async () => {
    await faked.limiter.preloadSpent([tenDollars]);
    admit('one');
    faked.finish('one', { usd: 3, tokens: 0 });
    expect(used()).toBe(3);
    spendElsewhere(8);
    faked.pass(5_000);
    expect(used()).toBe(3);
    await setImmediate();
    expect(used()).toBe(11);
    expect(() => admit('two')).toThrow('budget');
  });

  test('begins a new period at once', async () => {
    spendElsewhere(11);
    await faked.limiter.preloadSpent([tenDollars]);
    expect(() => admit('one')).toThrow('budget');
    faked.pass(dayMs);
    admit('one');
  });

  test('is not reported as reached because a replica starts', async () => {
    spendElsewhere(9);
    expect(() => admit('one')).toThrow();
    await setImmediate();
    admit('one');
    faked.finish('one', { usd: 0.5, tokens: 0 });
    expect(faked.told).toEqual([]);
    admit('two');
    faked.finish('two', { usd: 1, tokens: 0 });
    expect(faked.told).toMatchObject([{ percent: 100 }]);
  });

  test.each([
    ['before it was known', () => {}],
    ['once it was known', setImmediate],
  ])('is told of once where the first request reaches a level, ended %s what was spent', async (_, untilThen) => {
    const soft = budget(10, 'day', { hard: false });
    spendElsewhere(7);
    faked.limiter.admit('one', [soft], estimate);
    await untilThen();
    faked.finish('one', { usd: 2, tokens: 0 });
    await setImmediate();
    faked.pass(5_000);
    faked.limiter.admit('two', [soft], estimate);
    await setImmediate();
    faked.finish('two', { usd: 0.5, tokens: 0 });
    expect(faked.told).toMatchObject([{ percent: 80, used: expect.toSatisfy((used) => used >= 9) }]);
  });

  test('is told of at once where the first request reaches it alone, before anything was known', async () => {
    faked.limiter.admit('one', [budget(10, 'day', { hard: false })], estimate);
    faked.finish('one', { usd: 9, tokens: 0 });
    expect(faked.told).toEqual([]);
    await setImmediate();
    expect(faked.told).toMatchObject([{ percent: 80, used: 9 }]);
  });

  test('stays unchanged while the ledger cannot be read', async () => {
    await faked.limiter.preloadSpent([tenDollars]);
    faked.state.isBroken = true;
    faked.pass(5_000);
    admit('one');
    await setImmediate();
    admit('two');
    faked.state.isBroken = false;
  });
});

test('a limit per minute counts what another replica has recently served', async () => {
  const faked = fakeLimiter(undefined, { isLater: true });
  const two = limited({ requestsPerMinute: 2 });
  faked.rows.push({
    key: 'k',
    group: 'g',
    startedAt: faked.clock.wallMs - 1_000,
    used: { usd: 0, tokens: 0, unpriced: 0 },
  });
  faked.limiter.meters(two);
  await setImmediate();
  faked.limiter.admit('one', [two], estimate);
  expect(() => faked.limiter.admit('two', [two], estimate)).toThrow('requests');
});
