/** Sessions in the ledger: what is listed and summed, and how many rows that reads. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RequestRecord, RequestSession } from '../../../server/contract/ledger.ts';
import { type Database, openDatabase } from '../../../server/database/database.ts';
import { createLedger, type Ledger } from '../../../server/ledger/ledger.ts';
import { clockAt, finishedRow, noon, silent, startedRow } from './records.ts';

let database: Database;
let ledger: Ledger;
let nowMs = noon;
beforeEach(() => {
  database = openDatabase(':memory:');
  nowMs = noon;
  ledger = createLedger({ database, log: silent, now: () => nowMs, sweepClock: clockAt(() => nowMs) });
});
afterEach(() => {
  ledger.close();
  database.close();
});

const idOf = (number: number) => `ses_${String(number).padStart(16, '0')}`;
const session = (number: number, step: RequestSession['step'] = 'prompt', thread = 'aaaaaaaa'): RequestSession => ({
  id: idOf(number),
  name: null,
  thread,
  step,
  tools: [],
});

let count = 0;
function add(more: Partial<RequestRecord>): string {
  const id = `req_${++count}`;
  ledger.finished(finishedRow(id, more));
  return id;
}

test('a session keeps the name that one of its requests gives it', async () => {
  add({ session: session(1) });
  add({ session: { ...session(1), name: 'nightly' } });
  add({ session: session(1) });
  add({ session: session(2) });
  const { sessions } = await ledger.listSessions({});
  expect(sessions.map(({ id, name }) => [id, name])).toEqual([
    [idOf(2), null],
    [idOf(1), 'nightly'],
  ]);
});

test('a session sums what its requests used, cost and failed', async () => {
  add({ session: session(1), costUsd: 0.25, usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 } });
  add({ session: session(1, 'tools'), costUsd: null, usage: null, outcome: 'error', provider: null, attempts: [] });
  add({ session: session(1, 'tools'), costUsd: 0.5, modelServed: 'gpt-y', startedAt: noon + 60_000 });
  add({ session: null });
  const { sessions } = await ledger.listSessions({});
  expect(sessions).toEqual([
    expect.objectContaining({
      id: idOf(1),
      keyId: 'k1',
      client: 'OpenAI/JS 7.55.0',
      requests: 3,
      turns: 1,
      errors: 1,
      inputTokens: 20,
      cachedInputTokens: 4,
      costUsd: 0.75,
      unpricedRequests: 0,
      models: ['gpt-x', 'gpt-y'],
      firstAt: noon,
      lastAt: noon + 60_020,
      stoppedAt: null,
    }),
  ]);
});

test('sessions are listed by their last request and page by page', async () => {
  for (const number of [1, 2, 3, 1]) add({ session: session(number) });
  const first = await ledger.listSessions({ limit: 2 });
  expect(first.sessions.map(({ id }) => id)).toEqual([idOf(1), idOf(3)]);
  const second = await ledger.listSessions({ limit: 2, before: first.next ?? 0 });
  expect(second.sessions.map(({ id }) => id)).toEqual([idOf(2)]);
  expect(second.next).toBeNull();
});

test('a filter leaves the sessions of a key, a client or a time, and stopped ones', async () => {
  add({ session: session(1), keyId: 'k2', client: 'codex' });
  add({ session: session(2), startedAt: noon + 3_600_000 });
  const ids = async (filter: object) => (await ledger.listSessions(filter)).sessions.map(({ id }) => id);
  expect(await ids({ keyId: 'k2' })).toEqual([idOf(1)]);
  expect(await ids({ client: 'codex' })).toEqual([idOf(1)]);
  expect(await ids({ sinceMs: noon + 60_000 })).toEqual([idOf(2)]);
  expect(ledger.sessionStates.setStopped(idOf(2), noon)).toBe(true);
  expect(await ids({ stopped: true })).toEqual([idOf(2)]);
  expect(ledger.sessionStates.stopped()).toEqual([idOf(2)]);
  expect(ledger.sessionStates.setStopped(idOf(9), noon)).toBe(false);
  add({ session: session(3), costUsd: 5 });
  expect(await ids({ stopped: true, stopAtUsd: 5 })).toEqual([idOf(3), idOf(2)]);
  ledger.started(startedRow('req_runs', { session: session(4) }), null);
  expect(await ids({ running: true })).toEqual([idOf(4)]);
});

test('a running request is counted, and its reservation is not shown', async () => {
  ledger.started(startedRow('req_running', { session: session(1) }), { usage: { inputTokens: 999 }, costUsd: 9 });
  expect((await ledger.listSessions({})).sessions).toMatchObject([
    { running: 1, requests: 1, inputTokens: 0, costUsd: null, client: null },
  ]);
});

test('a request joins its session after it was recorded, or while it runs', async () => {
  const first = add({});
  ledger.joined({ requestId: first, startedAt: noon, session: session(1), hasEnded: true });
  add({ session: session(1, 'tools') });
  ledger.started(startedRow('req_running'));
  ledger.flush();
  ledger.joined({ requestId: 'req_running', startedAt: noon, session: session(2), hasEnded: false });
  add({ session: session(2) });
  const { sessions } = await ledger.listSessions({});
  expect(sessions.map(({ id, requests }) => [id, requests])).toEqual([
    [idOf(2), 2],
    [idOf(1), 2],
  ]);
});

test('what a session has used of its budget is the same in the next run, with what was interrupted', () => {
  add({ session: session(1), costUsd: 0.1 });
  ledger.started(startedRow('req_interrupted', { session: session(1) }), { usage: {}, costUsd: 0.2 });
  add({ session: session(1), costUsd: null });
  expect(ledger.sessionStates.budgetUsedUsd(idOf(1))).toBe(0.1);
  const next = createLedger({ database, log: silent, now: () => nowMs, sweepClock: clockAt(() => nowMs) });
  expect(next.sessionStates.budgetUsedUsd(idOf(1))).toBeCloseTo(0.3, 12);
  next.close();
});

test('a request that joins its session counts once, whether it has ended or runs', () => {
  const ended = add({ costUsd: 1 });
  ledger.joined({ requestId: ended, startedAt: noon, session: session(1), hasEnded: true });
  ledger.started(startedRow('req_joins'));
  ledger.flush();
  ledger.joined({ requestId: 'req_joins', startedAt: noon, session: session(1), hasEnded: false });
  ledger.finished(finishedRow('req_joins', { costUsd: 2, session: session(1) }));
  expect(ledger.sessionStates.budgetUsedUsd(idOf(1))).toBe(3);
});

test('a resumed session has used nothing of its budget', () => {
  add({ session: session(1), costUsd: 1 });
  ledger.sessionStates.setStopped(idOf(1), null);
  expect(ledger.sessionStates.budgetUsedUsd(idOf(1))).toBe(0);
  add({ session: session(1), costUsd: 2 });
  expect(ledger.sessionStates.budgetUsedUsd(idOf(1))).toBe(2);
});

test('a session whose requests have expired is forgotten', async () => {
  add({ session: session(1) });
  ledger.flush();
  nowMs = noon + 91 * 86_400_000;
  add({ session: session(2), startedAt: nowMs });
  ledger.flush();
  await ledger.sweep();
  expect(database.prepare('SELECT id FROM sessions').all()).toEqual([{ id: idOf(2) }]);
});

describe('a session in full', () => {
  const usage = (inputTokens: number, cachedInputTokens: number, cacheWriteTokens = 0) => ({
    usage: { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens: 1 },
  });
  const requestsOf = async () => (await ledger.getSession(idOf(1)))?.requests ?? [];

  test('points at prefixes that changed, and not at those that were read', async () => {
    add({ session: session(1), ...usage(10_000, 0, 9_000) });
    add({ session: session(1, 'tools'), ...usage(12_000, 9_000, 2_000) });
    add({ session: session(1, 'tools'), ...usage(14_000, 0, 13_000) });
    const losses = (await requestsOf()).map(({ cacheLoss }) => cacheLoss);
    expect(losses).toEqual([null, null, { cause: 'prefix', tokens: 11_000 }]);
  });

  test('tells a pause and another model from a changed prefix', async () => {
    add({ session: session(1), ...usage(10_000, 9_000) });
    add({ session: session(1), ...usage(10_000, 0, 9_000), startedAt: noon + 301_000 });
    add({ session: session(1), ...usage(10_000, 0), startedAt: noon + 302_000, modelServed: 'gpt-y' });
    const read = await requestsOf();
    expect(read.map(({ cacheLoss }) => cacheLoss?.cause ?? null)).toEqual([null, 'pause', 'target']);
    expect(read.map(({ modelBefore }) => modelBefore)).toEqual([null, null, 'gpt-x']);
  });

  test('says nothing of an input that became shorter, except that it did', async () => {
    add({ session: session(1), ...usage(10_000, 9_000) });
    add({ session: session(1), ...usage(2_000, 0) });
    expect((await requestsOf()).map(({ cacheLoss, isShorter }) => [cacheLoss, isShorter])).toEqual([
      [null, false],
      [null, true],
    ]);
  });

  test('shows the results of tools, and how large the context of each turn has become', async () => {
    const tools = [{ name: 'Read', bytes: 12, hasFailed: true }];
    add({ session: session(1), ...usage(100, 0) });
    add({ session: { ...session(1, 'tools'), tools }, ...usage(200, 0) });
    add({ session: session(1, 'prompt', 'bbbbbbbb'), ...usage(900, 0) });
    ledger.started(startedRow('req_running', { session: { ...session(1, 'tools'), tools } }), null);
    const full = await ledger.getSession(idOf(1));
    expect(full?.requests.map((request) => request.tools)).toEqual([[], tools, [], tools]);
    expect(full?.turns.map(({ contextTokens }) => contextTokens)).toEqual([200]);
  });

  test('has its turns with their sums', async () => {
    add({ session: session(1), costUsd: 1 });
    add({ session: session(1, 'prompt', 'bbbbbbbb'), costUsd: 2 });
    add({ session: session(1, 'tools'), costUsd: 4, startedAt: noon + 1_000 });
    add({ session: session(1), costUsd: 8, startedAt: noon + 2_000 });
    const full = await ledger.getSession(idOf(1));
    expect(full?.turns).toMatchObject([
      { turn: 1, requests: 3, costUsd: 7, startedAt: noon, endedAt: noon + 1_020 },
      { turn: 2, requests: 1, costUsd: 8 },
    ]);
    expect(full?.requests.map(({ thread }) => thread)).toEqual([0, 1, 0, 0]);
    expect(full?.session.turns).toBe(2);
  });

  test('is null for an unknown id', async () => {
    expect(await ledger.getSession(idOf(1))).toBeNull();
  });
});

test('lists and sessions are read by index', () => {
  const plan = (sql: string) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; ');
  expect(plan('SELECT * FROM sessions WHERE last_seq < 9 ORDER BY last_seq DESC LIMIT 50')).toBe(
    'SEARCH sessions USING INDEX sessions_by_use (last_seq<?)',
  );
  expect(plan("SELECT id FROM requests WHERE session = 'x' AND seq < 9 ORDER BY seq DESC LIMIT 9")).toBe(
    'SEARCH requests USING INDEX requests_by_session (session=? AND seq<?)',
  );
});
