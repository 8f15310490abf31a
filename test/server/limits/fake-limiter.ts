import { afterEach, beforeEach } from 'vitest';
import { GatewayError } from '../../../server/contract/errors.ts';
import type { RequestRecord } from '../../../server/contract/ledger.ts';
import { type Budget, limitsSchema } from '../../../server/contract/limit-settings.ts';
import type { Limited, LimitReached, LimitScope } from '../../../server/contract/limits.ts';
import { hourMs } from '../../../server/contract/units.ts';
import { type LimiterSums, LocalLimiter } from '../../../server/limits/local-limiter.ts';
import { withPeople } from '../../../server/limits/person-history.ts';
import type { OwnedKey } from '../../../server/store/ports/people-store.ts';
import { createBudgetSums } from '../../../server/store/sqlite/budget-sums.ts';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { budgetMigrations } from '../../../server/store/sqlite/schema.ts';
import type { Amounts, Spent, UsageHistory } from '../../../server/store/sqlite/usage-history.ts';
import { attemptRecord } from '../../support/stand-ins.ts';

// Keys and groups with limits, and the usage of their requests.

export const dayMs = 24 * hourMs;

export const none = { usd: 0, tokens: 0 };

export const exactly = (amounts: Amounts) => ({ likely: amounts, most: amounts });

export const cent = { usd: 0.01, tokens: 10 };

/** The keys of the person. */
export const owned: OwnedKey[] = [{ keyId: 'k', sinceMs: 0, untilMs: null }];

export function limited(limits: object, scope: LimitScope = 'key'): Limited {
  const id = { key: 'k', group: 'g', person: 'p' }[scope];
  return {
    scope,
    id,
    groupId: scope === 'person' ? null : 'g',
    name: id,
    limits: limitsSchema.parse(limits),
    sinceMs: 0,
  };
}

export const budget = (amount: number, per: Budget['per'], more: Partial<Budget> = {}) =>
  limited({ budgets: [{ unit: 'usd', amount, per, ...more }] });

export type Fake = ReturnType<typeof fakeLimiter>;

/** Periods begin by Berlin's time. Registers the hooks. */
export function liveInBerlin(): void {
  const zone = process.env.TZ;
  beforeEach(() => {
    process.env.TZ = 'Europe/Berlin';
  });
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
}

let count = 0;

/** Whether a request is admitted. If so, it ends at once with the given usage. */
export function passes(fake: Fake, subject: Limited, used = cent): boolean {
  const id = `r${count++}`;
  try {
    fake.limiter.admit(id, [subject], exactly(none));
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
  fake.finish(id, used);
  return true;
}

/** Returns the error of the refusal. Throws if the request is admitted. */
export function refusalOf(fake: Fake, subjects: Limited[]): GatewayError {
  try {
    fake.limiter.admit(`r${count++}`, subjects, exactly(none));
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('It was admitted.');
}

/** Returns how many of these requests are admitted. */
export const spend = (fake: Fake, subject: Limited, times: number) =>
  Array.from({ length: times }, () => passes(fake, subject)).filter(Boolean).length;

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
