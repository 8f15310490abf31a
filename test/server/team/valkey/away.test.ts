/** Replicas while Valkey is stopped, restarted, slow or read-only, and after one of the replicas has died. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Limited } from '../../../../server/contract/limits.ts';
import type { SharedCountsSettings } from '../../../../server/contract/replica-limits.ts';
import { stretched } from '../../../support/cpu-work.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';
import { budget, cent, exactly, limited, none } from '../../limits/fake-limiter.ts';
import { admits } from '../../limits/limiter-contract.ts';
import { finishAt, openReplica, type Replica, type ReplicaOptions } from './replicas.ts';

const dollar = { usd: 1, tokens: 10 };

describe.runIf(hasValkey())('replicas', () => {
  let valkey: ValkeyServer;
  const opened: Replica[] = [];

  beforeEach(async () => {
    valkey = await startValkey();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((replica) => replica.close()));
    await valkey.stop();
  });

  const open = async (options?: ReplicaOptions) => {
    const replica = await openReplica(valkey.url, options);
    opened.push(replica);
    return replica;
  };
  const openThree = async (options?: ReplicaOptions) => {
    const three = [await open(options), await open(options), await open(options)] as const;
    await Promise.all(three.map((replica) => eventually(() => replica.view.replicas === 3)));
    return three;
  };
  const until = (replicas: readonly Replica[], isUp: boolean) =>
    Promise.all(replicas.map((replica) => eventually(() => (replica.view.problem === null) === isUp)));
  const passed = async (replica: Replica, times: number, subject: Limited, used = none) => {
    const all = await Promise.all(
      Array.from({ length: times }, () => admits(replica.limiter, [subject], exactly(used))),
    );
    return all.filter(({ refusal }) => refusal === null).map(({ id }) => id);
  };

  test('free the places of one that dies', async () => {
    const subject = limited({ concurrent: 3 });
    const [dying, other] = [await open(), await open()];
    expect(await passed(dying, 5, subject)).toHaveLength(3);
    expect(await passed(other, 5, subject)).toHaveLength(0);
    await dying.close();
    await eventually(async () => (await passed(other, 5, subject)).length > 0);
    await eventually(() => other.view.replicas === 1);
  });

  test('keep the places of requests that take long', async () => {
    const subject = limited({ concurrent: 1 });
    const [one, other] = [await open(), await open()];
    expect(await passed(one, 1, subject)).toHaveLength(1);
    const startedAt = performance.now();
    await eventually(() => performance.now() - startedAt > 1_500);
    expect(await passed(other, 1, subject)).toHaveLength(0);
  });

  test('count as spent what one that dies had reserved', async () => {
    const subject = budget(1, 'day');
    const [dying, other] = [await open(), await open()];
    await passed(dying, 1, subject, { usd: 0.6, tokens: 0 });
    await dying.close();
    await eventually(async () => {
      await other.limiter.refresh([subject]);
      return other.limiter.meters(subject)[0]?.used === 0.6;
    });
  });

  test('count what a request really used if its replica was wrongly considered dead', async () => {
    const subject = budget(1, 'day');
    // Its heartbeats are too rare to renew the lease that the command below ends.
    const frozen = await open({ timing: { beatMs: 600_000, tryAgainMs: 50, aliveMs: 600_000 } });
    const other = await open();
    const [id = ''] = await passed(frozen, 1, subject, { usd: 0.6, tokens: 0 });
    await valkey.command('ZADD', 'sluice:{limits}:key:k@0:leases', '1', id);
    await other.limiter.refresh([subject]);
    expect(other.limiter.meters(subject)[0]?.used).toBe(0.6);
    finishAt(frozen, id, cent);
    await frozen.limiter.refresh([subject]);
    expect(frozen.limiter.meters(subject)[0]?.used).toBeCloseTo(0.01, 12);
  });

  test('continue with equal shares while Valkey is unavailable, and together again when it is back', async () => {
    const three = await openThree();
    const perMinute = limited({ requestsPerMinute: 30 });
    const running = { ...limited({ concurrent: 3 }), id: 'k2' };
    const [held = ''] = await passed(three[0], 1, running);
    await valkey.kill();
    await until(three, false);
    const counts = await Promise.all(three.map((replica) => passed(replica, 30, perMinute)));
    expect(counts.map(({ length }) => length)).toEqual([10, 10, 10]);
    expect(await passed(three[0], 3, running)).toHaveLength(0);
    await valkey.start();
    await until(three, true);
    // One of the three places is taken by the request that began before.
    const together = await Promise.all(three.map((replica) => passed(replica, 3, running)));
    expect(together.flat()).toHaveLength(2);
    finishAt(three[0], held, none, { keyId: 'k2' });
    await three[0].limiter.refresh([running]);
    expect(await passed(three[1], 3, running)).toHaveLength(1);
    const told = three[0].logged.map(({ message }) => message);
    expect(told.filter((message) => message.startsWith('Valkey cannot be used'))).toHaveLength(1);
    expect(told.filter((message) => message.startsWith('limits are counted together'))).toHaveLength(2);
  });

  test('count at least what each has admitted itself in this minute, after Valkey has lost everything', async () => {
    const replica = await open();
    const subject = limited({ requestsPerMinute: 5 });
    expect(await passed(replica, 3, subject)).toHaveLength(3);
    await valkey.command('FLUSHALL');
    expect(await passed(replica, 9, subject)).toHaveLength(2);
    await valkey.command('FLUSHALL');
    expect(await passed(replica, 9, subject)).toHaveLength(0);
  });

  test('refuse hard budgets while Valkey is unavailable, or spend their share of the rest', async () => {
    const settings: SharedCountsSettings = { hardBudgets: 'closed' };
    const three = await openThree({ settings });
    const subject = budget(10, 'day');
    const [id = ''] = await passed(three[0], 1, subject, dollar);
    finishAt(three[0], id, dollar);
    // On the first refresh, the replicas only report the sums of their own ledgers.
    for (const { limiter } of [...three, ...three]) await limiter.refresh([subject]);
    await valkey.kill();
    await until(three, false);
    const { refusal } = await admits(three[1].limiter, [subject], exactly(dollar));
    expect(refusal).toMatchObject({ code: 'shared_counts_unavailable', retryAfterSeconds: 5 });
    settings.hardBudgets = 'open';
    // 9 of 10 dollars remain: 3 for each replica.
    const spent = await Promise.all(three.map((replica) => passed(replica, 9, subject, dollar)));
    expect(spent.map(({ length }) => length)).toEqual([3, 3, 3]);
    await valkey.start();
    await until(three, true);
  });

  test.each([
    ['a common ledger', true],
    ['a ledger each', false],
  ])('with %s know what was spent after Valkey has lost everything', async (_what, isCommon) => {
    const three = await openThree(isCommon ? { rows: [] } : {});
    const subject = budget(5, 'day');
    for (const replica of three) {
      const [id = ''] = await passed(replica, 1, subject, dollar);
      finishAt(replica, id, dollar);
    }
    const [late = ''] = await passed(three[0], 1, subject, dollar);
    await valkey.kill();
    await until(three, false);
    finishAt(three[0], late, dollar);
    await valkey.start();
    await until(three, true);
    await eventually(async () => {
      await three[1].limiter.refresh([subject]);
      return three[1].limiter.meters(subject)[0]?.used === 4;
    });
    expect(await passed(three[2], 9, subject, dollar)).toHaveLength(1);
  });

  test('wait no longer than a second for a Valkey that does not answer', async () => {
    const replica = await open();
    const subject = limited({ requestsPerMinute: 5 });
    await passed(replica, 1, subject);
    valkey.pause();
    expect(await passed(replica, 9, subject)).toHaveLength(4);
    expect(replica.view.problem).toBe('slow');
    const startedAt = performance.now();
    expect(await passed(replica, 100, subject)).toHaveLength(0);
    expect(performance.now() - startedAt).toBeLessThan(stretched(900));
    valkey.go();
    await until([replica], true);
  });

  test('do not count together on a Valkey that is read-only, or has no memory left', async () => {
    const replica = await open();
    await valkey.command('REPLICAOF', '127.0.0.1', '1');
    await eventually(() => replica.view.problem === 'read-only');
    expect(await passed(replica, 3, limited({ requestsPerMinute: 2 }))).toHaveLength(2);
    await valkey.command('REPLICAOF', 'NO', 'ONE');
    await until([replica], true);
    await valkey.command('CONFIG', 'SET', 'maxmemory', '1');
    await eventually(() => replica.view.problem === 'out-of-memory');
    await valkey.command('CONFIG', 'SET', 'maxmemory', '0');
    await until([replica], true);
  });

  test('that start while Valkey is unavailable use the share of the last start', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-replica-'));
    const first = await open({ dataDir });
    await open();
    await eventually(() => JSON.parse(readFileSync(join(dataDir, 'replica.json'), 'utf8')).replicas === 2);
    await Promise.all(opened.splice(0).map((replica) => replica.close()));
    await valkey.kill();
    const again = await open({ dataDir });
    expect(again.view).toMatchObject({ problem: 'unreachable', replicas: 2 });
    expect(await passed(again, 9, limited({ requestsPerMinute: 6 }))).toHaveLength(3);
    await valkey.start();
    await until([again], true);
    expect(first.view.problem).toBeNull();
    await again.close();
    rmSync(dataDir, { recursive: true });
  });
});
