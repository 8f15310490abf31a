/** One generated sequence of requests, jobs and changed limits at a limiter that counts alone and at one that counts in Valkey. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { GatewayError } from '../../../../server/contract/errors.ts';
import type { RequestRecord } from '../../../../server/contract/ledger.ts';
import type { Limited, LimitReached } from '../../../../server/contract/limits.ts';
import { type Estimate, noCharge } from '../../../../server/limits/account.ts';
import type { Limiter } from '../../../../server/limits/limiter.ts';
import type { Amounts } from '../../../../server/store/sqlite/usage-history.ts';
import { pick, randomNumbers } from '../../../support/random-numbers.ts';
import { attemptRecord } from '../../../support/stand-ins.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';
import { fakeLimiter, limited } from '../../limits/fake-limiter.ts';
import { admits } from '../../limits/limiter-contract.ts';
import { finishAt, openReplica, type Replica } from './replicas.ts';

const seeds = [3, 17, Math.floor(Math.random() * 2 ** 31)];
const stepsPerSeed = 1_500;
const owners = ['k1', 'k2', 'k3'];
const jobs = ['resp_1', 'resp_2', 'video_1'];
const amounts: readonly Amounts[] = [
  { usd: 0, tokens: 0 },
  { usd: 1e-7, tokens: 1 },
  { usd: 0.1, tokens: 10 },
  { usd: 0.3, tokens: 7 },
  { usd: 1 / 3, tokens: 999 },
  { usd: 2.5, tokens: 12_345 },
];
const ended: readonly Partial<RequestRecord>[] = [
  {},
  { costUsd: null },
  { outcome: 'error', status: 500, attempts: [attemptRecord({ connectMs: null, status: null })] },
  { outcome: 'client-gone', status: null },
  { attempts: [], cached: { result: 'hit', savedUsd: 0.1, savedUsage: null } },
];

/**
 * Limits with other amounts each time. Which there are stays the same: in Valkey, nothing is counted for limits that a key
 * does not have yet.
 */
function limitsFrom(random: () => number): () => object {
  const drawn = <T>(values: readonly T[]) => (random() < 0.5 ? () => pick(values, random) : () => undefined);
  const perMinute = { requests: drawn([1, 9, 60, 400]), tokens: drawn([50, 5_000, 200_000]) };
  const concurrent = drawn([1, 3, 12]);
  const budgets = Array.from({ length: Math.floor(random() * 3) }, () => ({
    unit: pick(['usd', 'tokens'] as const, random),
    per: pick(['day', 'week', 'month', 'total'] as const, random),
  }));
  return () => ({
    requestsPerMinute: perMinute.requests(),
    tokensPerMinute: perMinute.tokens(),
    concurrent: concurrent(),
    budgets: budgets.map((budget) => ({
      ...budget,
      amount: pick([0.3, 1, 5, 50, 2_000, 60_000], random),
      hard: random() < 0.6,
    })),
  });
}

/** Without the milliseconds that pass between the two of them. */
function withoutTimes(text: string): string {
  return text.replaceAll(/\b\d+(?:\.\d+)?(?:ms|s)\b|\b\d+m\d+s\b|\b\d+h\d+m\d+s\b/g, 'a while');
}

/** Of several limits per minute that are reached, the one with the longest wait is named, and Valkey counts whole seconds. */
function causeOf({ code, message }: GatewayError): string {
  return message.includes(' per minute, used ') ? 'a limit per minute' : `${code}: ${withoutTimes(message)}`;
}

function comparable(headers: Readonly<Record<string, string>>): object {
  const isTime = (name: string) => name.includes('reset') || name.startsWith('retry-after');
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isTime(name) ? 'a while' : value]));
}

const rounded = (amount: number) => Number(amount.toPrecision(9));

describe.runIf(hasValkey())('a limiter that counts alone and one in Valkey', () => {
  let valkey: ValkeyServer;
  const replicas: Replica[] = [];
  beforeAll(async () => {
    valkey = await startValkey();
  });
  afterAll(() => valkey.stop());
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.close()));
    await valkey.command('FLUSHALL');
  });

  /** Both, with the same ledger and clock. */
  async function openBoth() {
    const told: LimitReached[] = [];
    const replica = await openReplica(valkey.url, {
      told,
      timing: { beatMs: 60_000, tryAgainMs: 50, aliveMs: 600_000 },
    });
    replicas.push(replica);
    const fake = fakeLimiter(Date.now());
    const now = () => {
      fake.clock.wallMs = Date.now();
      fake.clock.steadyMs = performance.now();
    };
    const toldOf = (notices: readonly LimitReached[]) =>
      notices.map(({ used, ...notice }) => JSON.stringify({ ...notice, used: rounded(used) })).sort();
    return {
      /** Both answers. */
      async each<T>(ask: (limiter: Limiter) => T | Promise<T>): Promise<[T, T]> {
        now();
        const alone = await ask(fake.limiter);
        return [alone, await ask(replica.limiter)];
      },
      finish(id: string, used: Amounts, more: Partial<RequestRecord>) {
        now();
        fake.finish(id, used, more);
        finishAt(replica, id, used, more);
      },
      told: () => [toldOf(fake.told), toldOf(told)] as const,
    };
  }

  test.each(seeds)('admit, refuse, count and reserve alike, from the seed %i', async (seed) => {
    const random = randomNumbers(seed);
    const both = await openBoth();
    const limitsOf = new Map(['g', ...owners].map((id) => [id, limitsFrom(random)]));
    const subjectOf = (id: string): Limited => ({
      ...limited(limitsOf.get(id)?.() ?? {}, id === 'g' ? 'group' : 'key'),
      id,
      name: id,
    });
    const subjects = new Map(['g', ...owners].map((id) => [id, subjectOf(id)]));
    const running: { id: string; keyId: string; startedAt: number }[] = [];
    const held = new Map<string, string>();

    const admit = async (index: number) => {
      const keyId = pick(owners, random);
      const limitedBy = [keyId, 'g'].flatMap((id) => subjects.get(id) ?? []);
      const most = pick(amounts, random);
      const charged: Estimate = { likely: pick(amounts, random), most };
      const estimate = pick([charged, charged, charged, noCharge, { ...charged, isPart: true as const }], random);
      const id = `request_${index}`;
      const startedAt = Date.now();
      const [alone, together] = await both.each(async (limiter) => {
        const { headers, refusal } = await admits(limiter, limitedBy, estimate, id);
        return {
          headers: comparable(headers),
          refusal: refusal && { cause: causeOf(refusal), headers: comparable(refusal.headers ?? {}) },
        };
      });
      expect(together, `request ${index}`).toEqual(alone);
      if (!alone.refusal) running.push({ id, keyId, startedAt });
    };
    const finish = () => {
      const [request] = running.splice(Math.floor(random() * running.length), 1);
      if (!request) return;
      const { id, ...more } = request;
      const as = pick(ended, random);
      const used = pick(amounts, random);
      both.finish(id, as.costUsd === null ? { ...used, usd: 0 } : used, { ...more, ...as });
    };
    const holdOrRelease = async () => {
      const job = pick(jobs, random);
      const keyId = held.get(job);
      if (keyId === undefined) {
        const owner = pick(owners, random);
        const most = pick(amounts, random);
        held.set(job, owner);
        await both.each((limiter) => limiter.hold(job, { keyId: owner, groupId: 'g' }, most));
      } else {
        held.delete(job);
        await both.each((limiter) => limiter.release(job, { keyId, groupId: 'g' }));
      }
    };
    const changeLimits = () => {
      const id = pick(['g', ...owners], random);
      subjects.set(id, subjectOf(id));
    };
    const compareMeters = async (index: number) => {
      for (const subject of subjects.values()) {
        const [alone, together] = await both.each(async (limiter) => {
          await limiter.refresh([subject]);
          return limiter.meters(subject).map((meter) => ({
            ...meter,
            used: rounded(meter.used),
            resetsAt: meter.budget ? meter.resetsAt : null,
          }));
        });
        expect(together, `meters of ${subject.id} after step ${index}`).toEqual(alone);
      }
    };

    for (let index = 0; index < stepsPerSeed; index++) {
      const kind = random();
      if (kind < 0.5) await admit(index);
      else if (kind < 0.88) finish();
      else if (kind < 0.96) await holdOrRelease();
      else if (kind < 0.97) changeLimits();
      else await compareMeters(index);
    }
    while (running.length > 0) finish();
    await compareMeters(stepsPerSeed);
    const [alone, together] = both.told();
    expect(together).toEqual(alone);
  });
});
