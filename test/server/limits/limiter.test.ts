/** Which requests are admitted and what remains, with clocks and a ledger that the test controls. */
import { describe, expect, test } from 'vitest';
import { localCalendar } from '../../../server/contract/calendar.ts';
import { GatewayError } from '../../../server/contract/errors.ts';
import { hourMs } from '../../../server/contract/units.ts';
import {
  budget,
  cent,
  dayMs,
  exactly,
  fakeLimiter,
  limited,
  liveInBerlin,
  none,
  owned,
  passes,
  refusalOf,
  spend,
} from './fake-limiter.ts';

liveInBerlin();

describe('a budget', () => {
  test.each([
    ['week', '2026-11-22T22:59:59Z', '2026-11-22T23:00:00Z'],
    ['month', '2026-11-30T22:59:59Z', '2026-11-30T23:00:00Z'],
  ] as const)('of a %s opens with the next one', (per, before, after) => {
    const fake = fakeLimiter();
    const subject = budget(0.02, per);
    expect(spend(fake, subject, 5)).toBe(2);
    fake.clock.wallMs = Date.parse(before);
    expect(passes(fake, subject)).toBe(false);
    fake.clock.wallMs = Date.parse(after);
    expect(passes(fake, subject)).toBe(true);
  });

  test('in total never opens, unless more is allowed', () => {
    const fake = fakeLimiter();
    expect(spend(fake, budget(0.02, 'total'), 5)).toBe(2);
    fake.pass(1000 * dayMs);
    expect(spend(fake, budget(0.02, 'total'), 5)).toBe(0);
    expect(spend(fake, budget(0.03, 'total'), 5)).toBe(1);
  });

  test('that is soft is told at 80 and 100 percent, in each period once, and not again after a restart', () => {
    const fake = fakeLimiter();
    const subject = budget(0.1, 'day', { hard: false });
    expect(spend(fake, subject, 15)).toBe(15);
    expect(fake.told.map(({ percent }) => percent)).toEqual([80, 100]);
    fake.restart();
    spend(fake, subject, 2);
    expect(fake.told).toHaveLength(2);
    fake.pass(dayMs);
    spend(fake, subject, 9);
    expect(fake.told.map(({ percent }) => percent)).toEqual([80, 100, 80]);
    expect(fake.told.at(-1)).toMatchObject({ scope: 'key', id: 'k', resetsAt: Date.parse('2026-11-21T23:00:00Z') });
  });

  test('is told at the percentages that it names, and at those of all budgets that are the same one', () => {
    const fake = fakeLimiter();
    const named = (notifyAt: number[], hard = false) => ({
      ...budget(0.1, 'day', { hard }).limits.budgets[0],
      notifyAt,
    });
    const subject = budget(0.1, 'day', { hard: false });
    const both = { ...subject, limits: { budgets: [named([50, 90]), named([50, 30])] } } as typeof subject;
    expect(spend(fake, both, 12)).toBe(12);
    expect(fake.told.map(({ percent }) => percent)).toEqual([30, 50, 90]);
    const silent = { ...subject, id: 'silent', limits: { budgets: [named([])] } } as typeof subject;
    spend(fake, silent, 12);
    expect(fake.told).toHaveLength(3);
  });

  test('tells its pace from when it could first be used', () => {
    const fake = fakeLimiter();
    const subject = budget(0.1, 'week', { hard: false });
    const { startMs } = localCalendar().periodOf('week', fake.clock.wallMs);
    fake.pass(startMs + 8 * dayMs - fake.clock.wallMs);
    spend(fake, subject, 2);
    const [meter] = fake.limiter.meters(subject);
    expect(meter?.pace?.expected).toBeCloseTo(0.14);
    expect(meter?.pace?.spentAt).toBe(startMs + 12 * dayMs);
    const young = { ...subject, sinceMs: fake.clock.wallMs - dayMs / 2 };
    fake.restart();
    expect(fake.limiter.meters(young)[0]?.pace?.spentAt).toBe(startMs + 10 * dayMs);
  });

  test('of a removed key is told anew for the next key of its id', () => {
    const fake = fakeLimiter();
    const subject = budget(0.1, 'day', { hard: false });
    spend(fake, subject, 12);
    fake.limiter.forget('key', 'k');
    fake.pass(1);
    spend(fake, { ...subject, sinceMs: fake.clock.wallMs }, 12);
    expect(fake.told.map(({ percent }) => percent)).toEqual([80, 100, 80, 100]);
  });

  test('does not count what another key of the same id has used before', () => {
    const fake = fakeLimiter();
    const old = budget(0.02, 'month');
    expect(spend(fake, old, 5)).toBe(2);
    fake.pass(hourMs);
    fake.limiter.forget('key', 'k');
    expect(spend(fake, { ...old, sinceMs: fake.clock.wallMs }, 5)).toBe(2);
    // The next key with this id is created while Sluice is not running, so `forget` is not called.
    fake.pass(hourMs);
    fake.restart();
    expect(spend(fake, { ...old, sinceMs: fake.clock.wallMs }, 5)).toBe(2);
  });

  test('of a person counts every key for the time in which it was theirs', () => {
    const person = { ...limited({}, 'person'), limits: budget(1, 'day').limits };
    const fake = fakeLimiter();
    fake.pass(dayMs / 2);
    const usedOnce = { usd: 0.25, tokens: 0, unpriced: 0 };
    const { wallMs } = fake.clock;
    owned.push({ keyId: 'revoked', sinceMs: wallMs - 3_600_000, untilMs: wallMs - 1_800_000 });
    for (const [key, agoMs] of [
      ['k', 60_000],
      ['revoked', 2_700_000],
      ['revoked', 60_000],
      ['revoked', 5_400_000],
      ['of others', 60_000],
    ] as const)
      fake.rows.push({ key, group: 'g', startedAt: wallMs - agoMs, used: usedOnce });
    expect(fake.limiter.meters(person)[0]?.used).toBe(0.5);
    owned.pop();
  });

  test('counts what requests of a key used before it was limited, those under way too', () => {
    const fake = fakeLimiter();
    fake.finish('before', { usd: 0.01, tokens: 0 });
    expect(passes(fake, budget(0.05, 'day'))).toBe(true);
    fake.finish('under way', { usd: 0.03, tokens: 0 });
    expect(passes(fake, budget(0.05, 'day'))).toBe(false);
  });

  test('is never passed by more than the last request and what others were underestimated by', () => {
    let state = 3;
    const random = () => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return state / 2147483648;
    };
    for (let run = 0; run < 200; run++) {
      const fake = fakeLimiter();
      const amount = 1 + random() * 20;
      const subject = budget(amount, 'total');
      const flying = new Map<string, { used: number; estimate: number }>();
      let sum = 0;
      let slack = 0;
      for (let step = 0; step < 300; step++) {
        const [first] = flying;
        if (first && random() < 0.5) {
          const [id, { used }] = first;
          flying.delete(id);
          sum += used;
          fake.finish(id, { usd: used, tokens: 0 });
          continue;
        }
        const [used, estimate] = [random() ** 3 * 2, random() ** 3];
        const id = `p${run}-${step}`;
        try {
          fake.limiter.admit(id, [subject], exactly({ usd: estimate, tokens: 0 }));
        } catch {
          continue;
        }
        slack = used + [...flying.values()].reduce((all, one) => all + Math.max(0, one.used - one.estimate), 0);
        flying.set(id, { used, estimate });
      }
      for (const { used } of flying.values()) sum += used;
      expect(sum).toBeLessThanOrEqual(amount + slack + 1e-9);
    }
  });
});

describe('what runs', () => {
  const guess = { likely: { usd: 0.1, tokens: 100 }, most: { usd: 3, tokens: 3_000 } };

  test('holds the most that it can cost of a hard budget alone; elsewhere, and where it is shown, what is likely', () => {
    const fake = fakeLimiter();
    const hard = budget(5, 'day');
    const soft = { ...budget(5, 'day', { hard: false }), scope: 'group', id: 'g' } as const;
    const rated = { ...limited({ tokensPerMinute: 1_000 }), id: 'other' };
    for (const id of ['a', 'b']) fake.limiter.admit(id, [hard, soft, rated], guess);
    expect(fake.limiter.meters(hard)).toMatchObject([{ used: 0.2 }]);
    expect(fake.limiter.meters(rated)).toMatchObject([{ used: 200 }]);
    expect(() => fake.limiter.admit('c', [soft, rated], guess)).not.toThrow();
    expect(refusalOf(fake, [hard])).toMatchObject({ code: 'request_limit_reached', retryAfterSeconds: 1 });
  });

  test('may reserve the rest of a budget, which later requests wait for and which does not count as spent', () => {
    const fake = fakeLimiter();
    const hard = budget(2, 'day');
    fake.limiter.admit('a', [hard], guess);
    const { message } = refusalOf(fake, [hard]);
    expect(message).toMatch(/^The rest of the budget of key "k" \(\$2 a day\) is reserved by running requests/);
    fake.finish('a', { usd: 0.5, tokens: 0 });
    fake.limiter.admit('b', [hard], guess);
    fake.finish('b', { usd: 2.5, tokens: 0 });
    expect(refusalOf(fake, [hard])).toMatchObject({ code: 'budget_spent', retryAfterSeconds: null });
  });

  test('may cost more than the whole budget, if nothing else runs', () => {
    const fake = fakeLimiter();
    const hard = budget(1, 'day');
    expect(() => fake.limiter.admit('a', [hard], guess)).not.toThrow();
  });

  test('holds of key and group while a job goes on after its request, also before they are first used', () => {
    const fake = fakeLimiter();
    const subjects = [budget(5, 'day'), { ...budget(9, 'day'), scope: 'group', id: 'g' } as const];
    const owner = { keyId: 'k', groupId: 'g' };
    fake.limiter.hold('job', owner, { usd: 9, tokens: 0 });
    for (const subject of subjects) expect(refusalOf(fake, [subject])).toMatchObject({ retryAfterSeconds: 1 });
    fake.limiter.release('job', owner);
    expect(() => fake.limiter.admit('a', subjects, exactly(none))).not.toThrow();
  });
});

describe('a limit by the minute', () => {
  test('is not touched by a wall clock that is set', () => {
    const fake = fakeLimiter();
    const subject = limited({ requestsPerMinute: 2 });
    expect(spend(fake, subject, 5)).toBe(2);
    fake.clock.wallMs += dayMs;
    expect(passes(fake, subject)).toBe(false);
    fake.clock.wallMs -= 3 * dayMs;
    expect(passes(fake, subject)).toBe(false);
    fake.clock.steadyMs += 61_000;
    expect(spend(fake, subject, 5)).toBe(2);
  });

  test('replaces the estimate by the real usage, and admits no request that exceeds it', () => {
    const fake = fakeLimiter();
    const subject = limited({ tokensPerMinute: 1_000 });
    fake.limiter.admit('a', [subject], exactly({ usd: 0, tokens: 990 }));
    expect(fake.limiter.meters(subject)).toMatchObject([{ used: 990 }]);
    fake.finish('a', { usd: 0, tokens: 100 });
    expect(fake.limiter.meters(subject)).toMatchObject([{ used: 100 }]);
    fake.limiter.admit('b', [subject], exactly({ usd: 0, tokens: 10 }));
    fake.pass(70_000);
    fake.finish('b', { usd: 0, tokens: 5_000 });
    expect(refusalOf(fake, [subject])).toMatchObject({ code: 'token_limit_reached', retryAfterSeconds: 61 });
  });

  test('reserves nothing of the key for a request that its group refuses', () => {
    const fake = fakeLimiter();
    const key = limited({ requestsPerMinute: 9, tokensPerMinute: 99, concurrent: 9 });
    const group = limited({ concurrent: 1 }, 'group');
    fake.limiter.admit('a', [key, group], exactly({ usd: 0, tokens: 5 }));
    const before = fake.limiter.meters(key);
    expect(refusalOf(fake, [key, group]).message).toMatch(
      /^Rate limit reached for group "g": 1 at the same time, 1 running\./,
    );
    expect(fake.limiter.meters(key)).toEqual(before);
  });

  test('keeps nothing of a request once it has ended in any way', () => {
    const fake = fakeLimiter();
    const subject = limited({ concurrent: 3, tokensPerMinute: 100, budgets: [{ unit: 'usd', amount: 1, per: 'day' }] });
    for (const outcome of ['ok', 'error', 'client-gone', 'stream-broken'] as const) {
      fake.limiter.admit(outcome, [subject], exactly({ usd: 0.5, tokens: 50 }));
      fake.finish(outcome, none, { outcome, usage: null, costUsd: null });
    }
    expect(fake.limiter.meters(subject).map(({ used }) => used)).toEqual([0, 0, 0]);
  });

  test('is remembered over a restart as far as the minute goes', () => {
    const fake = fakeLimiter();
    const subject = limited({ requestsPerMinute: 3 });
    expect(spend(fake, subject, 2)).toBe(2);
    fake.pass(30_000);
    fake.restart();
    expect(spend(fake, subject, 5)).toBe(1);
    fake.pass(31_000);
    expect(spend(fake, subject, 5)).toBe(2);
  });
});

test('what is part of a running request takes no place at the same time, but counts otherwise', () => {
  const fake = fakeLimiter();
  const subject = limited({ concurrent: 1, requestsPerMinute: 3 });
  const part = { ...exactly(none), isPart: true } as const;
  fake.limiter.admit('whole', [subject], exactly(none));
  fake.limiter.admit('part 1', [subject], part);
  fake.limiter.admit('part 2', [subject], part);
  expect(() => fake.limiter.admit('part 3', [subject], part)).toThrow(GatewayError);
  fake.finish('part 1', cent);
  const concurrent = fake.limiter.meters(subject).find(({ kind }) => kind === 'concurrent');
  expect(concurrent?.used).toBe(1);
  fake.finish('part 2', cent);
  fake.finish('whole', none);
  expect(fake.limiter.meters(subject).find(({ kind }) => kind === 'concurrent')?.used).toBe(0);
});
