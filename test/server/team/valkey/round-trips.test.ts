/** The number of commands that a request needs, and the requests that need none. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { noCharge, noSpending } from '../../../../server/limits/account.ts';
import type { UsageHistory } from '../../../../server/store/sqlite/usage-history.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';
import { budget, cent, exactly, limited, none } from '../../limits/fake-limiter.ts';
import { admits } from '../../limits/limiter-contract.ts';
import { finishAt, openReplica, type Replica } from './replicas.ts';

describe.runIf(hasValkey())('a replica', () => {
  let valkey: ValkeyServer;
  let replica: Replica;

  beforeAll(async () => {
    valkey = await startValkey();
    // No heartbeats in between.
    replica = await openReplica(valkey.url, { timing: { beatMs: 600_000, tryAgainMs: 50, aliveMs: 600_000 } });
  });
  afterEach(() => valkey.command('CONFIG', 'RESETSTAT'));
  afterAll(async () => {
    await replica.close();
    await valkey.stop();
  });

  const scriptsRun = async () => {
    const told = await valkey.command('INFO', 'commandstats');
    const line = told.split('\n').find((each) => each.startsWith('cmdstat_evalsha:')) ?? '';
    return Number(line.split('calls=')[1]?.split(',')[0] ?? 0);
  };

  test('asks once for all limits of key and group, and writes once what a request used', async () => {
    const key = limited({ requestsPerMinute: 9, tokensPerMinute: 999, concurrent: 9, budgets: [day] });
    const group = { ...key, scope: 'group', id: 'g' } as const;
    // The first request in a period transfers the ledger's sum.
    await admits(replica.limiter, [key, group], exactly(cent));
    await valkey.command('CONFIG', 'RESETSTAT');
    const { id } = await admits(replica.limiter, [key, group], exactly(cent));
    expect(await scriptsRun()).toBe(1);
    finishAt(replica, id, cent);
    await replica.limiter.refresh([]);
    expect(await scriptsRun()).toBe(2);
  });

  test('asks nothing for a request that no limit can refuse', async () => {
    const soft = budget(1, 'day', { hard: false });
    expect(replica.limiter.admit('soft', [soft], exactly(cent))).toEqual({});
    expect(replica.limiter.admit('free', [budget(1, 'day')], noCharge)).toEqual({});
    expect(replica.limiter.admit('without', [], exactly(none))).toEqual({});
    expect(await scriptsRun()).toBe(0);
  });

  test('asks the ledger once what was spent, since Valkey tells it afterwards', async () => {
    const key = { ...budget(1, 'total'), id: 'asked-once' };
    let wallMs = Date.now();
    let asked = 0;
    const history: UsageHistory = {
      async spent() {
        asked += 1;
        return noSpending;
      },
      requestsSince: async () => [],
      async forgetTotal() {},
      atSnapshot: (work) =>
        work({ spent: async (questions) => questions.map(() => noSpending), ended: async () => new Set() }),
    };
    const later = await openReplica(valkey.url, { history, wallMs: () => wallMs });
    for (let request = 0; request < 3; request++) {
      const { id } = await admits(later.limiter, [key], exactly(cent));
      finishAt(later, id, cent, { keyId: key.id });
      await later.limiter.refresh([key]);
      wallMs += 60_000;
    }
    expect(asked).toBe(1);
    expect(later.limiter.meters(key)[0]?.used).toBeCloseTo(0.03, 12);
    await later.close();
  });

  test('touches no two slots of a cluster in one script', async () => {
    const cluster = await startValkey('--cluster-enabled', 'yes');
    await cluster.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    const other = await openReplica(cluster.url);
    await eventually(() => other.view.problem === null);
    const key = limited({ requestsPerMinute: 9, concurrent: 9, budgets: [day] });
    const { id, refusal } = await admits(other.limiter, [key, { ...key, scope: 'group', id: 'g' }], exactly(cent));
    expect(refusal).toBeNull();
    finishAt(other, id, cent);
    await other.limiter.refresh([key]);
    expect(other.view.problem).toBeNull();
    expect(other.limiter.meters(key).find(({ kind }) => kind === 'budget')?.used).toBe(0.01);
    await other.close();
    await cluster.stop();
  });
});

const day = { unit: 'usd', amount: 1, per: 'day' };
