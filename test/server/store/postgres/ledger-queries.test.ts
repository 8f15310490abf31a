/** The same requests in SQLite and in PostgreSQL, and the same queries. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestRecord } from '../../../../server/contract/ledger.ts';
import type { FirstByteView } from '../../../../server/contract/request-views.ts';
import {
  countRequests,
  firstByteTimes,
  getRequest,
  getSession,
  listClientModels,
  listClients,
  listRequests,
  listSessions,
  listUnpriced,
  summarizeUsage,
  usageOverTime,
} from '../../../../server/store/postgres/ledger-queries.ts';
import { LedgerWriter } from '../../../../server/store/postgres/ledger-writer.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { recordedNames } from '../../../../server/store/postgres/request-conditions.ts';
import type { UsageOverTimeQuery, UsageQuery } from '../../../../server/store/rules/over-time.ts';
import { nameDimensions } from '../../../../server/store/rules/request-conditions.ts';
import type { SessionFilter } from '../../../../server/store/rules/session-queries.ts';
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger, type Ledger } from '../../../../server/store/sqlite/ledger.ts';
import type { RequestFilter } from '../../../../server/store/sqlite/queries.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { randomNumbers } from '../../../support/random-numbers.ts';
import { finishedRow, noon, rescuedRow, sessionMark, silent, startedRow } from '../sqlite/records.ts';

const minute = 60_000;
const day = 1_440 * minute;
const count = 600;

describe.runIf(hasPostgres())('the ledger in PostgreSQL answers as SQLite does', () => {
  const server = startPostgresInSuite();
  let postgres: Postgres;
  let sqlite: Ledger;

  beforeAll(async () => {
    postgres = await openTables(await server.createDatabase());
    sqlite = createLedger({ database: openSqliteDatabase(':memory:'), log: silent, now: () => noon });
    const records = manyRecords();
    const running = startedRow('req_running', { startedAt: noon, session: sessionMark('ses_2') });
    for (const record of records) sqlite.finished(record);
    sqlite.started(running);
    await sqlite.flush();
    const writer = new LedgerWriter({ postgres, replica: randomUUID(), part: 3, now: () => noon });
    await writer.write({ id: randomUUID(), rows: [...records, running] });
  });
  afterAll(async () => {
    await sqlite.close();
    await postgres.close();
  });

  const filters: [string, RequestFilter][] = [
    ['all', {}],
    ['a page', { limit: 50, before: 300 }],
    ['a key', { keyId: 'k1' }],
    ['a key that is not there', { keyId: 'nobody' }],
    ['a group and a provider', { groupId: 'g2', provider: 'p1' }],
    ['a model, asked or served', { model: 'b' }],
    ['a client', { client: 'curl/8.5.0' }],
    ['a capability', { capability: 'embeddings' }],
    ['those that run', { outcome: 'running' }],
    ['those that failed', { outcome: 'failed', limit: 1_000 }],
    ['an outcome', { outcome: 'stream-broken' }],
    ['a status', { status: '404' }],
    ['a class of status', { status: '4xx' }],
    ['a bound of status', { status: '>=429' }],
    ['callers’ mistakes', { outcome: 'refused' }],
    ['bounds of cost, tokens and times', { cost: '<=0.25', tokens: '>5', durationMs: '>=100', firstByteMs: '<800' }],
    ['some keys and groups', { within: { keyIds: ['k1', 'k3'], groupIds: ['g2'] } }],
    ['no key and no group', { within: { keyIds: [], groupIds: [] } }],
    ['all at once', { keyId: 'k1', groupId: 'g1', model: 'b', outcome: 'ok', sinceMs: noon - 2 * day, tokens: '>1' }],
    ['the beginning of an id', { search: idOf(300, 0).slice(0, 6) }],
    ['a span of time', { sinceMs: noon - 2 * day, untilMs: noon - day }],
    ['a key since then', { keyId: 'k2', sinceMs: noon - day }],
    ['a name of a model in a search', { search: 'B' }],
    ['an error code in a search', { search: 'rate limit' }],
    ['words of an error in a search', { search: 'refused conn' }],
    ['a search that finds nothing', { search: 'nothing-of-the-kind' }],
    ['the longest', { sort: { by: 'duration', isAscending: false }, limit: 20 }],
    ['the cheapest of a key', { keyId: 'k1', sort: { by: 'cost', isAscending: true }, limit: 20 }],
    ['most tokens', { sort: { by: 'tokens', isAscending: false }, limit: 20 }],
    ['the slowest to begin', { sort: { by: 'first-byte', isAscending: false }, limit: 20 }],
  ];

  test.each(filters)('about %s', async (_, filter) => {
    expect(await listRequests(postgres, filter)).toEqual(await sqlite.listRequests(filter));
    const { limit: _limit, before: _before, sort: _sort, ...conditions } = filter;
    expect(await countRequests(postgres, conditions)).toEqual(await sqlite.countRequests(conditions));
  });

  test('about one request', async () => {
    for (const id of ['req_7', 'req_running', 'req_none', idOf(5, noon)]) {
      expect(await getRequest(postgres, id)).toEqual(await sqlite.getRequest(id));
    }
  });

  test('about names, clients and unknown prices', async () => {
    for (const dimension of nameDimensions) {
      expect(await recordedNames(postgres, dimension)).toEqual(await sqlite.listNames(dimension));
    }
    expect(await listClients(postgres)).toEqual(await sqlite.listClients());
    for (const sinceMs of [0, noon - day, noon])
      expect(await listClientModels(postgres, sinceMs)).toEqual(await sqlite.listClientModels(sinceMs));
    const byName = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
    expect((await listUnpriced(postgres)).sort(byName)).toEqual((await sqlite.listUnpriced()).sort(byName));
  });

  const dimensions = ['day', 'key', 'group', 'model', 'provider'] as const;
  const spans: Omit<UsageQuery, 'by'>[] = [
    {},
    { zone: 'Asia/Kathmandu' },
    { sinceMs: noon - 2 * day - 17 * minute },
    { sinceMs: noon - day, untilMs: noon - day + 30 * minute },
    { names: ['k1', 'g2', 'p1', 'a', 'nobody'], sinceMs: noon - 2 * day - 17 * minute },
    { names: [] },
    { sinceMs: noon - 3 * day, untilMs: noon - minute, zone: 'Pacific/Pago_Pago' },
  ];

  test.each(spans)('about usage in all, of %j', async (span) => {
    for (const by of dimensions) {
      const question = { by, ...span };
      expect(inOrder(await summarizeUsage(postgres, question))).toEqual(inOrder(await sqlite.summarizeUsage(question)));
    }
  });

  const pages: SessionFilter[] = [
    {},
    { limit: 2 },
    { keyId: 'k1' },
    { groupId: 'g1', client: 'curl/8.5.0' },
    { sinceMs: noon - 60 * minute },
    { sinceMs: noon + day },
    { running: true },
    { stopped: true },
    { stopped: true, stopAtUsd: 10 },
    { stopAtUsd: 8 },
  ];

  test.each(pages)('about sessions, with %j', async (filter) => {
    expect(await listSessions(postgres, filter)).toEqual(await sqlite.listSessions(filter));
  });

  test('about a session and its requests', async () => {
    for (const id of ['ses_1', 'ses_3', 'ses_none']) {
      expect(await getSession(postgres, id, { stopAtUsd: 8 })).toEqual(await sqlite.getSession(id, { stopAtUsd: 8 }));
    }
  });

  const steps: Omit<UsageOverTimeQuery, 'by'>[] = [
    { sinceMs: noon - 3 * day, untilMs: noon + 1, stepMs: 60 * minute },
    { sinceMs: noon - 3 * day, untilMs: noon + 1, stepMs: day, zone: 'Asia/Kolkata' },
    { sinceMs: noon - day - minute, untilMs: noon - day + 180 * minute, stepMs: 7 * minute },
    { sinceMs: noon - 180 * minute, untilMs: noon, stepMs: minute, names: ['k1', 'b', 'p1', ''] },
  ];

  test.each(steps)('about usage over time, of %j', async (span) => {
    for (const by of dimensions) {
      const question = { by, ...span };
      expect(inOrder(await usageOverTime(postgres, question))).toEqual(inOrder(await sqlite.usageOverTime(question)));
    }
  });

  test.each(steps)('about usage over time of some keys and groups, of %j', async (span) => {
    for (const within of [
      { keyIds: ['k1'], groupIds: [] },
      { keyIds: ['k2'], groupIds: ['g1'] },
      { keyIds: [], groupIds: [] },
    ]) {
      const question = { by: 'model' as const, within, ...span };
      expect(inOrder(await usageOverTime(postgres, question))).toEqual(inOrder(await sqlite.usageOverTime(question)));
    }
  });

  test.each(steps)('about times to the first byte, of %j', async (span) => {
    for (const by of dimensions) {
      const question = { by, ...span };
      expect(named(await firstByteTimes(postgres, question))).toEqual(named(await sqlite.firstByteTimes(question)));
    }
  });
});

/** Rows with equal cost and time have no order, and floating-point sums depend on the order of addition. */
function inOrder<T extends { name: string | null; startMs?: number; costUsd: number | null }>(rows: readonly T[]): T[] {
  const rounded = rows.map((row) => ({
    ...row,
    costUsd: row.costUsd === null ? null : Number(row.costUsd.toFixed(9)),
  }));
  const placeOf = ({ startMs, name }: T) => `${startMs ?? ''} ${name ?? ''}`;
  return rounded.sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
}

/** The names in a step have no order. */
function named(view: FirstByteView): FirstByteView {
  const placeOf = ({ startMs, name }: FirstByteView['named'][number]) => `${startMs} ${name}`;
  return { ...view, named: view.named.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1)) };
}

/** Ids contain the time of their request. */
const idOf = (index: number, startedAt: number) =>
  `req_${startedAt.toString(16).padStart(12, '0')}${String(index).padStart(20, '0')}`;

function manyRecords(): RequestRecord[] {
  const random = randomNumbers(13);
  const pick = <T>(...values: T[]): T => values[Math.floor(random() * values.length)] as T;
  return Array.from({ length: count }, (_, index) => {
    const startedAt = Math.round(noon - (3 * day * (count - index)) / count);
    const common = {
      startedAt,
      keyId: pick('k1', 'k2', 'k3', null),
      groupId: pick('g1', 'g2'),
      modelAsked: pick('fast', 'b', 'c-mini', null),
      session: sessionOf(pick),
      client: pick('curl/8.5.0', 'OpenAI/JS 7.55.0', null),
      capability: pick('chat', 'embeddings', null),
      totalMs: Math.round(random() * 10_000),
    } as const;
    const id = index % 3 === 0 ? idOf(index, startedAt) : `req_${index}`;
    if (index % 11 === 0) return rescuedRow(id, common);
    if (index % 7 === 0) return shadowRow(id, { ...common, ...endOf(pick) }, index);
    return finishedRow(id, { ...common, ...endOf(pick), firstByteMs: pick(null, Math.round(random() * 900)) });
  });
}

function sessionOf(pick: <T>(...values: T[]) => T): RequestRecord['session'] {
  const id = pick(null, null, 'ses_1', 'ses_2', 'ses_3');
  if (id === null) return null;
  return sessionMark(id, {
    thread: pick('main', 'other'),
    step: pick('prompt', 'tools'),
    name: pick(null, 'nightly'),
    tools: pick([], [{ name: 'read_file', bytes: 12, hasFailed: true }]),
  });
}

function shadowRow(id: string, more: Partial<RequestRecord>, index: number): RequestRecord {
  const sides = { costUsd: 0.25, firstByteMs: index, totalMs: 2 * index, outputTokens: index % 2 === 0 ? null : 5 };
  const shadowOf = { id: `req_${index % 20}`, provider: 'main', model: 'a', ...sides };
  return finishedRow(id, { ...more, shadowOf, sameAnswer: [true, false, null][index % 3] ?? null });
}

function endOf(pick: <T>(...values: T[]) => T): Partial<RequestRecord> {
  const [attempt] = finishedRow('req').attempts;
  return pick<Partial<RequestRecord>>(
    { provider: pick('p1', 'p3'), costUsd: pick(0, 0.5), usage: { inputTokens: pick(1, 20, 300), seconds: 1.5 } },
    { provider: 'p1', costUsd: pick(0.25, 0.125), stream: true },
    { outcome: 'error', status: 404, errorCode: 'model_not_found', provider: null, attempts: [] },
    { outcome: 'error', status: 429, errorCode: 'rate_limit_exceeded', costUsd: null },
    { provider: 'p2', modelServed: pick('a', 'b', null), costUsd: null },
    { outcome: 'stream-broken', usage: null, costUsd: null },
    { outcome: 'error', status: 502, attempts: attempt ? [{ ...attempt, error: 'connection refused' }] : [] },
  );
}
