/** Replicas that count together, without gateways. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Limited, LimitReached } from '../../../../server/contract/limits.ts';
import type { SharedCountsSettings } from '../../../../server/contract/replica-limits.ts';
import type { Limiter } from '../../../../server/limits/limiter.ts';
import type { LimiterSums } from '../../../../server/limits/local-limiter.ts';
import { withPeople } from '../../../../server/limits/person-history.ts';
import type { LocalUsageHistory, Spent, UsageHistory } from '../../../../server/store/sqlite/usage-history.ts';
import type { Timing } from '../../../../server/team/valkey/counts-connection.ts';
import {
  type CommonLimits,
  connectValkey,
  openReplicaLimits,
} from '../../../../server/team/valkey/open-replica-limits.ts';
import { finishedRecord, owned } from '../../limits/fake-limiter.ts';
import type { CountingTogether } from '../../limits/limiter-contract.ts';
import { healthy } from '../../store/sqlite/records.ts';

// One of several gateways that share a database.

export interface LedgerRow {
  id: string;
  key: string | null;
  group: string | null;
  startedAt: number;
  used: Spent;
}

export interface Replica extends CommonLimits {
  /** Writes to its ledger, which contains the row at once or a little later. */
  write(row: LedgerRow): void;
  readonly logged: { fields: object; message: string }[];
}

const noSums: LimiterSums = { find: () => null, keep() {}, forget() {} };

export interface ReplicaOptions {
  /** The rows of a ledger that several replicas share. */
  rows?: LedgerRow[];
  /** A usage history to use instead of that ledger. */
  history?: UsageHistory;
  wallMs?(): number;
  /** The delay until a request is in the ledger. */
  writeMs?(): number;
  told?: LimitReached[];
  settings?: SharedCountsSettings;
  dataDir?: string;
  timing?: Timing;
}

export async function openReplica(url: string, options: ReplicaOptions = {}): Promise<Replica> {
  const { told = [], settings = { hardBudgets: 'closed' }, dataDir = null } = options;
  const rows = options.rows ?? [];
  const writing = new Set<Promise<void>>();
  const logged: Replica['logged'] = [];
  const note = (fields: object, message: string) => void logged.push({ fields, message });
  const opened = await openReplicaLimits(await connectValkey(url), {
    dataDir,
    commonLedger: options.rows ? 'common' : null,
    ledger: {
      async flush() {
        await Promise.all(writing);
      },
      health: () => healthy,
    },
    local: {
      history: withPeople(options.history ?? (options.rows ? commonHistoryOf(rows) : historyOf(rows)), () => owned),
      ownerOf: (keyId) => (keyId === 'k' ? 'p' : null),
      sums: noSums,
      clocks: { wallMs: options.wallMs ?? Date.now, steadyMs: () => performance.now() },
      reached: (notice) => told.push(notice),
      log: { warn: note },
    },
    settings: () => settings,
    timing: options.timing ?? { beatMs: 100, tryAgainMs: 50, aliveMs: 1_000 },
    log: { warn: note, info: note },
  });
  return {
    limiter: opened.limiter,
    messages: opened.messages,
    get view() {
      return opened.view;
    },
    onChange: (listener) => opened.onChange(listener),
    close: () => opened.close(),
    write(row) {
      const afterMs = options.writeMs?.() ?? 0;
      if (afterMs === 0) return void rows.push(row);
      const written = sleep(afterMs, undefined, { ref: false }).then(() => {
        rows.push(row);
        writing.delete(written);
      });
      writing.add(written);
    },
    logged,
  };
}

/** Writes to the replica's ledger first, as the gateway does. */
export function finishAt(replica: Replica, ...[id, used, more]: Parameters<typeof finishedRecord>): void {
  const record = finishedRecord(id, used, { startedAt: Date.now(), ...more });
  const { keyId: key, groupId: group, startedAt, costUsd } = record;
  replica.write({ id, key, group, startedAt, used: { ...used, unpriced: costUsd === null ? 1 : 0 } });
  replica.limiter.finished(record);
}

export function togetherOf(replicas: readonly [Replica, Replica, Replica], told: LimitReached[]): CountingTogether {
  const [first, second, third] = replicas;
  return {
    limiters: [first.limiter, second.limiter, third.limiter],
    told,
    finish(limiter: Limiter, id, used, more) {
      const replica = replicas.find((each) => each.limiter === limiter);
      if (replica) finishAt(replica, id, used, more);
    },
    // Commands on one connection are executed in order.
    async settled() {
      await Promise.all(replicas.map(({ limiter }) => limiter.refresh([anyParty])));
    },
  };
}

const anyParty: Limited = {
  scope: 'key',
  id: 'any',
  groupId: 'any',
  name: 'any',
  limits: { requestsPerMinute: 1, budgets: [] },
  sinceMs: 0,
};

/** Like a database server: the data read stays the same until the work is done, and arrives asynchronously. */
function commonHistoryOf(rows: readonly LedgerRow[]): UsageHistory {
  return {
    ...historyOf(rows),
    async atSnapshot(work) {
      await setImmediate();
      const then = [...rows];
      const written = new Set(then.map(({ id }) => id));
      return work({
        spent: async (questions) => questions.map(({ scope, id, range }) => historyOf(then).spent(scope, id, range)),
        ended: async (requests) => new Set(requests.flatMap(({ id }) => (written.has(id) ? [id] : []))),
      });
    },
  };
}

function historyOf(rows: readonly LedgerRow[]): LocalUsageHistory {
  return {
    spent(scope, id, { startMs, endMs }) {
      const found = rows.filter((row) => row[scope] === id && row.startedAt >= startMs && row.startedAt < endMs);
      const sumOf = (what: keyof Spent) => found.reduce((sum, { used }) => sum + used[what], 0);
      return { usd: sumOf('usd'), tokens: sumOf('tokens'), unpriced: sumOf('unpriced') };
    },
    requestsSince: () => [],
    forgetTotal() {},
  };
}
