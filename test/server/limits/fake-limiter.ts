import type { RequestRecord } from '../../../server/contract/ledger.ts';
import type { LimitReached } from '../../../server/contract/limits.ts';
import { type LimiterSums, LocalLimiter } from '../../../server/limits/local-limiter.ts';
import { withPeople } from '../../../server/limits/person-history.ts';
import { createBudgetSums } from '../../../server/store/sqlite/budget-sums.ts';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { budgetMigrations } from '../../../server/store/sqlite/schema.ts';
import type { Amounts, Spent, UsageHistory } from '../../../server/store/sqlite/usage-history.ts';
import { attemptRecord } from '../../support/attempt-record.ts';
import { owned } from './limited-subjects.ts';

/** A limiter with clocks and a ledger that the test controls. */
export function fakeLimiter(wallMs = Date.parse('2026-11-20T12:00:00Z'), { isLater = false } = {}) {
  const clock = { wallMs, steadyMs: 5_000 };
  const rows: { key: string | null; group: string | null; startedAt: number; used: Spent }[] = [];
  const told: LimitReached[] = [];
  const state = { isBroken: false, sumsAreBroken: false };
  const database = openSqliteDatabase(':memory:', budgetMigrations);
  const openSums = () => createBudgetSums({ database, log: { warn() {} }, flushMs: 50 });
  let opened = openSums();
  const sums: LimiterSums = {
    find(owner) {
      if (state.sumsAreBroken) throw new Error('disk I/O error');
      return opened.find(owner);
    },
    keep: (owner, sum) => opened.keep(owner, sum),
    forget: (scope, id) => opened.forget(scope, id),
  };
  const of = (scope: 'key' | 'group', id: string) => rows.filter((row) => row[scope] === id);
  const history: UsageHistory = {
    spent(scope, id, { startMs, endMs }) {
      if (state.isBroken) throw new Error('disk I/O error');
      const found = of(scope, id).filter(({ startedAt }) => startedAt >= startMs && startedAt < endMs);
      const sumOf = (what: keyof Spent) => found.reduce((sum, { used }) => sum + used[what], 0);
      return { usd: sumOf('usd'), tokens: sumOf('tokens'), unpriced: sumOf('unpriced') };
    },
    requestsSince: (scope, id, sinceMs) =>
      of(scope, id)
        .filter(({ startedAt }) => startedAt >= sinceMs)
        .map(({ startedAt, used }) => ({ startedAt, tokens: used.tokens })),
    forgetTotal() {},
  };
  const later: UsageHistory = {
    spent: async (...question) => history.spent(...question),
    requestsSince: async (...question) => history.requestsSince(...question),
    async forgetTotal() {},
  };
  const create = () =>
    new LocalLimiter({
      history: withPeople(isLater ? later : history, () => owned),
      ownerOf: (keyId) => (keyId === 'k' ? 'p' : null),
      sums: isLater ? { ...sums, find: () => null } : sums,
      clocks: { wallMs: () => clock.wallMs, steadyMs: () => clock.steadyMs },
      reached: (notice) => told.push(notice),
      log: { warn() {} },
    });
  let limiter = create();
  return {
    clock,
    rows,
    told,
    state,
    get limiter() {
      return limiter;
    },
    restart() {
      opened.close();
      opened = openSums();
      limiter = create();
    },
    loseLedger: () => rows.splice(0),
    loseSums() {
      database.exec('DELETE FROM budget_sums');
      opened = openSums();
    },
    pass(ms: number) {
      clock.wallMs += ms;
      clock.steadyMs += ms;
    },
    /** Writes to the ledger first, as the gateway does. */
    finish(id: string, used: Amounts, more: Partial<RequestRecord> = {}) {
      const record = finishedRecord(id, used, { startedAt: clock.wallMs, ...more });
      rows.push({
        key: record.keyId,
        group: record.groupId,
        startedAt: record.startedAt,
        used: { ...used, unpriced: record.costUsd === null ? 1 : 0 },
      });
      limiter.finished(record);
    },
  };
}

export function finishedRecord(id: string, used: Amounts, more: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id,
    startedAt: 0,
    keyId: 'k',
    groupId: 'g',
    route: '/v1/chat/completions',
    method: 'POST',
    capability: 'chat',
    modelAsked: 'gpt-x',
    stream: false,
    session: null,
    outcome: 'ok',
    status: 200,
    errorCode: null,
    modelServed: 'gpt-x',
    provider: 'main',
    credential: 'c1',
    queueMs: 0,
    connectMs: null,
    firstByteMs: 1,
    totalMs: 1,
    bytesIn: 0,
    bytesOut: 0,
    attempts: [attemptRecord()],
    usage: { inputTokens: used.tokens },
    usageCertainty: 'reported',
    costUsd: used.usd,
    client: null,
    clientRetries: 0,
    dropped: [],
    emulated: [],
    captured: null,
    cached: null,
    fault: null,
    cassette: null,
    shadowOf: null,
    sameAnswer: null,
    ...more,
  };
}
