/**
 * Queries of the ledger. SQLite runs on the main thread, so each query is split into batches of a few milliseconds and yields
 * to the event loop in between; hence the promises.
 */

import { setImmediate } from 'node:timers/promises';
import type { CaptureAbsence, CapturedExchange } from '../contract/capture.ts';
import type { RequestOutcome } from '../contract/ledger.ts';
import type { ClientUseView, FirstByteView, RequestView, UsageStepView, UsageView } from '../contract/request-views.ts';
import { number, text } from '../database/columns.ts';
import type { Database, SqlValue } from '../database/database.ts';
import { readCapture } from './capture-rows.ts';
import { type FirstByteQuestion, firstByteTimes, type UsageOverTimeQuestion, usageOverTime } from './over-time.ts';
import { toLedgerRow } from './rows.ts';
import { seekSeq, wholeRange } from './seek.ts';
import { summarizeUsage, type UsageQuestion } from './usage-summary.ts';

export interface RequestFilter {
  /** 1 to 1,000; default 100. */
  limit?: number;
  /** Only requests before this sequence number; the `next` of the previous page. */
  before?: number;
  keyId?: string;
  groupId?: string;
  /** The requested name or the upstream's. */
  model?: string;
  provider?: string;
  outcome?: RequestOutcome | 'running';
  sinceMs?: number;
  /** Exclusive. */
  untilMs?: number;
}

export interface RequestPage {
  /** Newest first. */
  requests: RequestView[];
  /** The `before` of the next page; null if there is none. */
  next: number | null;
}

/** What is kept of a request, or why nothing is. */
export interface KeptCapture {
  capture: CapturedExchange<Uint8Array> | null;
  absence: CaptureAbsence | null;
}

export interface LedgerQueries {
  listRequests(filter: RequestFilter): Promise<RequestPage>;
  getRequest(id: string): Promise<RequestView | null>;
  /** For the latest 100,000 requests. */
  listClients(): Promise<ClientUseView[]>;
  /** Days in chronological order; everything else by cost, then by requests, highest first. */
  summarizeUsage(question: UsageQuestion): Promise<UsageView[]>;
  /** In order of time. */
  usageOverTime(question: UsageOverTimeQuestion): Promise<UsageStepView[]>;
  /** In order of time. */
  firstByteTimes(question: FirstByteQuestion): Promise<FirstByteView>;
  /** Unix milliseconds of each key's last use, by key id. */
  lastUsed(): Map<string, number>;
  readCapture(request: RequestView): Promise<KeptCapture>;
}

const rowsPerBatch = 4_000;
/** How far sequence and time may disagree: the clock was set back, or a request was recorded only at its end. */
const slackMs = 3_600_000;

interface Conditions {
  sql: string;
  values: SqlValue[];
}

function conditionsOf(filter: RequestFilter): Conditions {
  const parts: string[] = [];
  const values: SqlValue[] = [];
  const add = (sql: string, ...of: SqlValue[]) => {
    parts.push(` AND ${sql}`);
    values.push(...of);
  };
  if (filter.keyId !== undefined) add('key_id = ?', filter.keyId);
  if (filter.groupId !== undefined) add('group_id = ?', filter.groupId);
  if (filter.provider !== undefined) add('provider = ?', filter.provider);
  if (filter.model !== undefined) add('(model_asked = ? OR model_served = ?)', filter.model, filter.model);
  if (filter.outcome === 'running') add('outcome IS NULL');
  else if (filter.outcome !== undefined) add('outcome = ?', filter.outcome);
  if (filter.sinceMs !== undefined) add('started_at >= ?', filter.sinceMs);
  if (filter.untilMs !== undefined) add('started_at < ?', filter.untilMs);
  return { sql: parts.join(''), values };
}

interface Range {
  low: number;
  /** Exclusive. */
  high: number;
}

export function createLedgerQueries(database: Database): LedgerQueries {
  return {
    async listRequests(filter) {
      const limit = Math.min(Math.max(filter.limit ?? 100, 1), 1_000);
      const requests = await scan(database, rangeOf(database, filter), conditionsOf(filter), limit);
      return { requests, next: requests.length < limit ? null : (requests.at(-1)?.seq ?? null) };
    },
    async getRequest(id) {
      const [row] = await scan(database, wholeRange(database), { sql: ' AND id = ?', values: [id] }, 1);
      return row ?? null;
    },
    listClients: () => listClients(database),
    summarizeUsage: (question) => summarizeUsage(database, question),
    usageOverTime: (question) => usageOverTime(database, question),
    firstByteTimes: (question) => firstByteTimes(database, question),
    lastUsed() {
      const rows = database.prepare('SELECT key_id, last_used_at FROM key_uses').all();
      return new Map(rows.map((row) => [text(row.key_id) ?? '', number(row.last_used_at) ?? 0]));
    },
    async readCapture(request) {
      const capture = readCapture(database, request.id);
      return { capture, absence: capture ? null : absenceOf(database, request) };
    },
  };
}

function absenceOf(database: Database, { seq, startedAt, outcome, capability }: RequestView): CaptureAbsence {
  if (outcome === null) return 'running';
  if (capability === 'realtime') return 'session';
  const captured = database.prepare('SELECT captured FROM requests WHERE seq = ?').get(seq)?.captured ?? null;
  if (captured === null) return outcome === 'interrupted' ? 'lost' : 'unknown';
  if (captured === 0) return 'off';
  // Captures are deleted from the oldest on.
  const oldestAt = number(database.prepare('SELECT captured_at FROM captures ORDER BY seq LIMIT 1').get()?.captured_at);
  return oldestAt === null || startedAt < oldestAt ? 'expired' : 'lost';
}

/** Matching requests in the range, newest first. */
async function scan(database: Database, range: Range, where: Conditions, limit: number): Promise<RequestView[]> {
  const select = database.prepare(
    `SELECT * FROM requests WHERE seq >= ? AND seq < ?${where.sql} ORDER BY seq DESC LIMIT ?`,
  );
  const found: RequestView[] = [];
  for (let high = range.high; high > range.low && found.length < limit; high -= rowsPerBatch) {
    if (high !== range.high) await setImmediate();
    const low = Math.max(range.low, high - rowsPerBatch);
    for (const row of select.all(low, high, ...where.values, limit - found.length)) found.push(toLedgerRow(row));
  }
  return found;
}

/** There is no index on clients, so the scan is limited: about 100 ms, in batches of 4 ms. */
const clientRows = 100_000;
/** Bounds the result, since clients choose their names. */
const mostClients = 500;

async function listClients(database: Database): Promise<ClientUseView[]> {
  const { low, high } = wholeRange(database);
  const select = database.prepare(
    `SELECT client, key_id, max(started_at) AS last_used_at FROM requests
     WHERE seq >= ? AND seq < ? AND client IS NOT NULL GROUP BY client, key_id`,
  );
  const found = new Map<string, ClientUseView>();
  for (let from = Math.max(low, high - clientRows); from < high; from += rowsPerBatch) {
    for (const row of select.all(from, Math.min(from + rowsPerBatch, high))) {
      const use = {
        client: text(row.client) ?? '',
        keyId: text(row.key_id),
        lastUsedAt: number(row.last_used_at) ?? 0,
      };
      found.set(JSON.stringify([use.client, use.keyId]), use);
    }
    await setImmediate();
  }
  return [...found.values()].sort((a, b) => b.lastUsedAt - a.lastUsedAt).slice(0, mostClients);
}

function rangeOf(database: Database, filter: RequestFilter): Range {
  let { low, high } = wholeRange(database);
  if (filter.before !== undefined) high = Math.min(high, filter.before);
  if (filter.untilMs !== undefined) high = Math.min(high, seekSeq(database, filter.untilMs + slackMs));
  if (filter.sinceMs !== undefined) low = Math.max(low, seekSeq(database, filter.sinceMs - slackMs));
  return { low, high };
}
