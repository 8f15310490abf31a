/**
 * Questions to the ledger. SQLite answers on the thread that also carries the streams, so each question is asked in
 * pieces of a few milliseconds, with everything else having its turn in between; hence the promises.
 */
import { setImmediate } from 'node:timers/promises';
import type { RequestOutcome, UsageTotals } from '../contract/ledger.ts';
import type { Database, Row, SqlValue } from '../database.ts';
import {
  type FirstByteTimes,
  firstByteTimes,
  type OverTimeQuestion,
  type UsageOverTimeQuestion,
  type UsageStep,
  usageOverTime,
} from './over-time.ts';
import { type LedgerRow, number, text, toLedgerRow } from './rows.ts';
import { seekSeq, wholeRange } from './seek.ts';
import { type Dimension, quarterMs } from './usage-cells.ts';

export interface RequestFilter {
  /** 1 to 1,000; 100 if absent. */
  limit?: number;
  /** Only what came before this place; the `next` of the page before. */
  before?: number;
  keyId?: string;
  groupId?: string;
  /** As asked for or as served. */
  model?: string;
  provider?: string;
  outcome?: RequestOutcome | 'running';
  sinceMs?: number;
  /** Exclusive. */
  untilMs?: number;
}

export interface RequestPage {
  /** Newest first. */
  requests: LedgerRow[];
  /** The `before` of the next page; null if there is none. */
  next: number | null;
}

export interface UsageQuestion {
  by: Dimension;
  /** Both are rounded outward to a quarter of an hour. */
  sinceMs?: number;
  untilMs?: number;
  /** What local time is ahead of UTC; decides where days begin. */
  utcOffsetMinutes?: number;
}

export interface UsageSummary extends UsageTotals {
  /** Id of the key, group or provider, name of the model, or local date (`2026-11-20`); null: requests that had none. */
  name: string | null;
}

export interface CapturedBodies {
  request: Uint8Array | null;
  response: Uint8Array | null;
}

export interface LedgerQueries {
  listRequests(filter: RequestFilter): Promise<RequestPage>;
  getRequest(id: string): Promise<LedgerRow | null>;
  /** Days in order of time, all else by cost and then by requests, the most first. */
  summarizeUsage(question: UsageQuestion): Promise<UsageSummary[]>;
  /** In order of time. */
  usageOverTime(question: UsageOverTimeQuestion): Promise<UsageStep[]>;
  /** In order of time. */
  firstByteTimes(question: OverTimeQuestion): Promise<FirstByteTimes>;
  /** When each key was last used, in Unix milliseconds, by key id. */
  lastUsed(): Map<string, number>;
  readCapture(id: string): CapturedBodies | null;
}

const rowsPerPiece = 4_000;
const dayMs = 86_400_000;
/** How far a request's place may be from its time: a clock that was set back, a request recorded only at its end. */
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
    summarizeUsage: (question) => summarize(database, question),
    usageOverTime: (question) => usageOverTime(database, question),
    firstByteTimes: (question) => firstByteTimes(database, question),
    lastUsed() {
      const rows = database.prepare('SELECT key_id, last_used_at FROM key_uses').all();
      return new Map(rows.map((row) => [text(row.key_id) ?? '', number(row.last_used_at) ?? 0]));
    },
    readCapture(id) {
      const row = database.prepare('SELECT request, response FROM captures WHERE id = ?').get(id);
      return row === undefined ? null : { request: bytes(row.request), response: bytes(row.response) };
    },
  };
}

/** Requests in the range that meet the conditions, newest first. */
async function scan(database: Database, range: Range, where: Conditions, limit: number): Promise<LedgerRow[]> {
  const select = database.prepare(
    `SELECT * FROM requests WHERE seq >= ? AND seq < ?${where.sql} ORDER BY seq DESC LIMIT ?`,
  );
  const found: LedgerRow[] = [];
  for (let high = range.high; high > range.low && found.length < limit; high -= rowsPerPiece) {
    if (high !== range.high) await setImmediate();
    const low = Math.max(range.low, high - rowsPerPiece);
    for (const row of select.all(low, high, ...where.values, limit - found.length)) found.push(toLedgerRow(row));
  }
  return found;
}

function rangeOf(database: Database, filter: RequestFilter): Range {
  let { low, high } = wholeRange(database);
  if (filter.before !== undefined) high = Math.min(high, filter.before);
  if (filter.untilMs !== undefined) high = Math.min(high, seekSeq(database, filter.untilMs + slackMs));
  if (filter.sinceMs !== undefined) low = Math.max(low, seekSeq(database, filter.sinceMs - slackMs));
  return { low, high };
}

const bytes = (value: SqlValue | undefined) => (value instanceof Uint8Array ? value : null);

/** Where days do not matter, reading several at once is faster; more would stop everything else for too long. */
const daysPerPiece = 4;

/** Reads the sums some local days at a time: for `day` each day is a row of the answer, for all else they are added up. */
async function summarize(database: Database, question: UsageQuestion): Promise<UsageSummary[]> {
  const offsetMs = (question.utcOffsetMinutes ?? 0) * 60_000;
  const select = database.prepare(
    `SELECT name, sum(requests) AS requests, sum(errors) AS errors, sum(input_tokens) AS input_tokens,
       sum(output_tokens) AS output_tokens, sum(cached_input_tokens) AS cached_input_tokens,
       sum(reasoning_tokens) AS reasoning_tokens, sum(seconds) AS seconds, sum(characters) AS characters,
       sum(images) AS images, sum(cost_usd) AS cost_usd, sum(unpriced_requests) AS unpriced_requests
     FROM usage_cells WHERE dimension = ? AND quarter >= ? AND quarter < ? GROUP BY name`,
  );
  const { since, until } = quartersOf(database, question);
  const days = question.by === 'day' ? 1 : daysPerPiece;
  const sums = new Map<string, UsageSummary>();
  for (let from = since; from < until; ) {
    const day = Math.floor((from * quarterMs + offsetMs) / dayMs);
    const to = Math.min(until, Math.ceil(((day + days) * dayMs - offsetMs) / quarterMs));
    for (const row of select.all(question.by, from, to)) {
      addUp(sums, toSummary(row, question.by === 'day' ? new Date(day * dayMs).toISOString().slice(0, 10) : null));
    }
    from = to;
    await setImmediate();
  }
  const summaries = [...sums.values()];
  if (question.by === 'day') return summaries;
  return summaries.sort((a, b) => b.costUsd - a.costUsd || b.requests - a.requests);
}

/** The quarters that are asked for, within those that there are. */
function quartersOf(database: Database, question: UsageQuestion): { since: number; until: number } {
  const end = (which: 'min' | 'max') =>
    number(
      database.prepare(`SELECT ${which}(quarter) AS quarter FROM usage_cells WHERE dimension = ?`).get(question.by)
        ?.quarter,
    );
  const low = end('min') ?? 0;
  const high = end('max') ?? -1;
  return {
    since: question.sinceMs === undefined ? low : Math.max(low, Math.floor(question.sinceMs / quarterMs)),
    until: question.untilMs === undefined ? high + 1 : Math.min(high + 1, Math.ceil(question.untilMs / quarterMs)),
  };
}

function toSummary(row: Row, date: string | null): UsageSummary {
  return {
    name: date ?? (text(row.name) || null),
    requests: number(row.requests) ?? 0,
    errors: number(row.errors) ?? 0,
    inputTokens: number(row.input_tokens) ?? 0,
    outputTokens: number(row.output_tokens) ?? 0,
    cachedInputTokens: number(row.cached_input_tokens) ?? 0,
    reasoningTokens: number(row.reasoning_tokens) ?? 0,
    seconds: number(row.seconds) ?? 0,
    characters: number(row.characters) ?? 0,
    images: number(row.images) ?? 0,
    costUsd: number(row.cost_usd) ?? 0,
    unpricedRequests: number(row.unpriced_requests) ?? 0,
  };
}

function addUp(sums: Map<string, UsageSummary>, more: UsageSummary): void {
  const sum = sums.get(more.name ?? '');
  if (sum === undefined) {
    sums.set(more.name ?? '', more);
    return;
  }
  sum.requests += more.requests;
  sum.errors += more.errors;
  sum.inputTokens += more.inputTokens;
  sum.outputTokens += more.outputTokens;
  sum.cachedInputTokens += more.cachedInputTokens;
  sum.reasoningTokens += more.reasoningTokens;
  sum.seconds += more.seconds;
  sum.characters += more.characters;
  sum.images += more.images;
  sum.costUsd += more.costUsd;
  sum.unpricedRequests += more.unpricedRequests;
}
