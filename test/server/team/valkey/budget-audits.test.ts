/** The amount counted against a budget equals that in the ledger, whatever happened to Valkey under load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { type Relay, startRelay } from '../../../support/ports.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';
import { budget, exactly, limited, none } from '../../limits/fake-limiter.ts';
import { admits } from '../../limits/limiter-contract.ts';
import { finishAt, type LedgerRow, openReplica, type Replica } from './replicas.ts';

const callersPerReplica = 3;
/** Longer than the leases of these replicas. */
const laterMs = 2_500;

describe.runIf(hasValkey())('of three replicas under load', () => {
  let valkey: ValkeyServer;
  let relay: Relay;
  let replicas: Replica[];
  /** The amounts spent, and the ledger that receives them a little later. */
  const book = { usd: 0, tokens: 0 };
  let rows: LedgerRow[];

  const subject = limited({
    requestsPerMinute: 1_000_000,
    budgets: [
      { unit: 'usd', amount: 1_000_000, per: 'total', hard: false },
      { unit: 'tokens', amount: 1_000_000_000, per: 'month', hard: false },
    ],
  });

  beforeEach(async () => {
    valkey = await startValkey();
    relay = await startRelay({ port: valkey.port });
    rows = [];
    Object.assign(book, { usd: 0, tokens: 0 });
    const writeMs = () => 1 + Math.random() * 60;
    const url = `valkey://127.0.0.1:${relay.port}`;
    replicas = await Promise.all([1, 2, 3].map(() => openReplica(url, { rows, writeMs })));
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await Promise.all([relay.stop(), valkey.stop()]);
  });

  const areUp = (isUp: boolean) => eventually(() => replicas.every(({ view }) => (view.problem === null) === isUp));
  const used = async ({ limiter }: Replica) => {
    await limiter.refresh([subject]);
    const [usd, tokens] = limiter.meters(subject).flatMap((meter) => (meter.kind === 'budget' ? [meter.used] : []));
    return { usd, tokens };
  };

  async function spend(replica: Replica): Promise<void> {
    const amounts = { usd: 1 + Math.floor(Math.random() * 100), tokens: 1 + Math.floor(Math.random() * 1_000) };
    const { id, refusal } = await admits(replica.limiter, [subject], exactly({ usd: 100, tokens: 1_000 }));
    expect(refusal).toBeNull();
    await sleep(Math.random() * 20);
    book.usd += amounts.usd;
    book.tokens += amounts.tokens;
    finishAt(replica, id, amounts);
  }

  async function underLoad(work: () => Promise<void>): Promise<void> {
    let isOver = false;
    const call = async (replica: Replica) => {
      while (!isOver) await spend(replica);
    };
    const callers = replicas.flatMap((replica) => Array.from({ length: callersPerReplica }, () => call(replica)));
    try {
      await work();
    } finally {
      isOver = true;
      await Promise.all(callers);
    }
  }
  const moreRequests = (more: number) => {
    const enough = rows.length + more;
    return eventually(() => rows.length >= enough);
  };

  test.each<[string, () => unknown, () => unknown]>([
    ['was killed and came back empty', () => valkey.kill(), () => valkey.start()],
    ['stood still', () => valkey.pause(), () => valkey.go()],
    ['was cut off', () => relay.cut(), () => relay.mend()],
    ['was slow', () => relay.slow(1_200), () => relay.slow(0)],
    [
      'was read-only',
      () => valkey.command('REPLICAOF', '127.0.0.1', '1'),
      () => valkey.command('REPLICAOF', 'NO', 'ONE'),
    ],
    [
      'was out of memory',
      () => valkey.command('CONFIG', 'SET', 'maxmemory', '1'),
      () => valkey.command('CONFIG', 'SET', 'maxmemory', '0'),
    ],
  ])('budgets equal the ledger after Valkey %s', async (_what, begin, end) => {
    await underLoad(async () => {
      await moreRequests(50);
      await begin();
      await areUp(false);
      await moreRequests(100);
      await end();
      await areUp(true);
      await moreRequests(50);
    });
    await budgetsAgree();
    // Leases that lapse and requests that arrive late do not change the sums.
    await sleep(laterMs);
    await budgetsAgree();
  });

  async function budgetsAgree(): Promise<void> {
    for (const replica of replicas)
      await eventually(async () => {
        const { usd, tokens } = await used(replica);
        return usd === book.usd && tokens === book.tokens;
      });
  }
});

describe.runIf(hasValkey())('the amount counted against a budget', () => {
  let valkey: ValkeyServer;
  let opened: Replica[];
  let rows: LedgerRow[];
  const subject = budget(1_000, 'total');
  const sumKey = 'sluice:{limits}:key:k@0:total';
  const dollar = { usd: 1, tokens: 10 };

  beforeEach(async () => {
    valkey = await startValkey();
    opened = [];
    rows = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((replica) => replica.close()));
    await valkey.stop();
  });

  const open = async (writeMs = 0) => {
    const replica = await openReplica(valkey.url, { rows, writeMs: () => writeMs });
    opened.push(replica);
    return replica;
  };
  const spendAt = async (replica: Replica) => {
    const { id, refusal } = await admits(replica.limiter, [subject], exactly(dollar));
    expect(refusal).toBeNull();
    finishAt(replica, id, dollar);
  };
  const used = async ({ limiter }: Replica) => {
    await limiter.refresh([subject]);
    return limiter.meters(subject)[0]?.used;
  };
  const loseConnections = async () => {
    const sinceMs = Math.max(...opened.map(({ view }) => view.sinceMs));
    await valkey.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await eventually(() => opened.every(({ view }) => view.problem === null && view.sinceMs > sinceMs));
  };
  /** Waits until no replica compares the sums any more. */
  const atRest = () => sleep(laterMs);

  test('contains a request once even if its end is reported again', async () => {
    // It does not compare before everything is written.
    const replica = await open(3_600_000);
    const { id } = await admits(replica.limiter, [subject], exactly(dollar));
    valkey.pause();
    finishAt(replica, id, dollar);
    await eventually(() => replica.view.problem === 'slow');
    valkey.go();
    await eventually(() => replica.view.problem === null);
    expect(await used(replica)).toBe(1);
  });

  test('keeps what another replica has not written yet', async () => {
    const [slow, other] = [await open(laterMs), await open()];
    await spendAt(other);
    await spendAt(slow);
    expect(await used(slow)).toBe(2);
    await loseConnections();
    const seen = new Set<string>();
    await eventually(async () => {
      seen.add(await valkey.command('HGET', sumKey, 'usd'));
      return rows.length === 2;
    });
    expect([...seen]).toEqual(['2']);
  });

  test('is restored once if all replicas restore it', async () => {
    const three = [await open(), await open(), await open()];
    for (const replica of three) await spendAt(replica);
    for (let time = 0; time < 10; time++) {
      await valkey.command('FLUSHALL');
      const asked = three.map(({ limiter }) => admits(limiter, [subject], { likely: none, most: dollar }));
      expect((await Promise.all(asked)).map(({ refusal }) => refusal)).toEqual([null, null, null]);
      for (const replica of three) expect(await used(replica)).toBe(3);
    }
  });

  test('is corrected after Valkey has started from an old copy of its data', async () => {
    const replica = await open();
    await spendAt(replica);
    await atRest();
    for (const field of ['usd', 'usd|common']) await valkey.command('HINCRBYFLOAT', sumKey, field, '-0.75');
    expect(await used(replica)).toBe(0.25);
    await loseConnections();
    await eventually(async () => (await used(replica)) === 1);
  });
});
