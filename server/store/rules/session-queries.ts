/** Questions about sessions: their conditions for both databases, and what is made of the rows. */

import type { Usage } from '../../contract/ledger.ts';
import type { Within } from '../../contract/people.ts';
import type {
  CacheLoss,
  SessionInFull,
  SessionRequest,
  SessionSums,
  SessionTurn,
  SessionView,
} from '../../contract/session-views.ts';
import { number, type Row, text } from './columns.ts';
import { allOf, anyOf, isAmong, literal, raw, type Sql, sql } from './condition-sql.ts';
import type { ReadRequest } from './session-request.ts';
import { placesOf } from './session-turns.ts';

/** All given conditions must hold. */
interface SessionConditions {
  keyId?: string;
  groupId?: string;
  client?: string;
  /** Unix milliseconds: with a request since then. */
  sinceMs?: number;
  /** With a request that has not ended. */
  running?: true;
  /** Whose requests are refused. */
  stopped?: true;
  /** The budget of each session in US dollars; null or absent: none. */
  stopAtUsd?: number | null;
  /** Absent: all sessions. */
  within?: Within;
}

/** What is known of sessions besides their rows. */
export interface SessionReading {
  /** The budget of each session in US dollars; null or absent: none. */
  stopAtUsd?: number | null;
  /** Ids of requests whose capture is in memory. */
  inMemory?: ReadonlySet<string>;
  /** Prices what the cache lost. */
  costOf?: CostOf;
}

export interface SessionFilter extends SessionConditions, Pick<SessionReading, 'inMemory'> {
  /** 1 to 200; default 50. */
  limit?: number;
  /** The `next` of the previous page. */
  before?: number;
}

export interface SessionPage {
  /** Latest first, by the last request. */
  sessions: SessionView[];
  next: number | null;
}

/** Requests of a session that are read; of more, the newest. */
export const maxRequests = 5_000;

/** SQL of a row in `sessions`. */
export const budgetUsed = '(cost_usd - resumed_usd)';

/** The index holds nothing but running requests. */
const runningSessions: Sql = ({ notation }) =>
  `SELECT session FROM ${notation.indexed('requests', 'requests_running')} WHERE outcome IS NULL AND session IS NOT NULL`;

/** The sessions of a page, latest first. `firstSince`: the first sequence number of a request since a time. */
export function sessionsPage(
  filter: SessionFilter,
  firstSince: (sinceMs: number) => Sql,
): { page: Sql; limit: number } {
  const { keyId, groupId, client, sinceMs, running, stopped, stopAtUsd, before, within, limit: asked = 50 } = filter;
  const conditions: (Sql | false)[] = [
    before !== undefined && sql`last_seq < ${before}`,
    keyId !== undefined && sql`key_id = ${keyId}`,
    groupId !== undefined && sql`group_id = ${groupId}`,
    client !== undefined && sql`client = ${client}`,
    sinceMs !== undefined && sql`last_seq >= ${firstSince(sinceMs)}`,
    within !== undefined && anyOf([isAmong('key_id', within.keyIds), isAmong('group_id', within.groupIds)]),
    running === true && sql`id IN (${runningSessions})`,
    stopped === true && sql`(stopped_at IS NOT NULL OR ${raw(budgetUsed)} >= ${stopAtUsd ?? Number.MAX_VALUE})`,
  ];
  const limit = Math.min(Math.max(asked, 1), 200);
  const where = allOf(conditions.filter((each) => each !== false));
  return { page: sql`SELECT * FROM sessions WHERE ${where} ORDER BY last_seq DESC LIMIT ${literal(limit)}`, limit };
}

export interface SessionRead {
  /** In order of arrival. */
  requests: ReadRequest[];
  isComplete: boolean;
}

/** A session, its turns and its requests. */
export function inFull(
  row: Row,
  sessionRead: SessionRead,
  { stopAtUsd = null, costOf }: SessionReading,
): SessionInFull {
  const requests = requestsOf(sessionRead.requests, costOf);
  return { session: viewOf(row, sessionRead, stopAtUsd), turns: turnsOf(sessionRead.requests, requests), requests };
}

/** Of a row of the table `sessions`. */
export function viewOf(row: Row, { requests, isComplete }: SessionRead, stopAtUsd: number | null): SessionView {
  const places = placesOf(requests);
  const last = requests.at(-1);
  const budgetUsedUsd = (number(row.cost_usd) ?? 0) - (number(row.resumed_usd) ?? 0);
  return {
    id: text(row.id) ?? '',
    name: text(row.name),
    keyId: text(row.key_id),
    groupId: text(row.group_id),
    client: text(row.client),
    firstAt: requests[0]?.startedAt ?? 0,
    lastAt: last ? Math.round(last.startedAt + (last.totalMs ?? 0)) : 0,
    running: requests.filter(({ outcome }) => outcome === null).length,
    turns: places.at(-1)?.turn ?? 0,
    stoppedAt: number(row.stopped_at),
    isOverBudget: stopAtUsd !== null && budgetUsedUsd >= stopAtUsd,
    budgetUsedUsd,
    openingId: requests.find(({ isCaptured }, index) => isCaptured && places[index]?.thread === 0)?.id ?? null,
    isComplete,
    ...sumsOf(requests),
  };
}

/** Sums over the requests of a session, and losses of the prompt cache between them. */
function sumsOf(requests: readonly ReadRequest[]): SessionSums {
  const sums: SessionSums = {
    requests: requests.length,
    errors: 0,
    retries: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    costUsd: null,
    unpricedRequests: 0,
    models: [],
  };
  for (const { attempts, clientRetries, usage, costUsd, isFailed, isUnpriced, modelServed } of requests) {
    if (isFailed) sums.errors += 1;
    sums.retries += Math.max(0, attempts - 1) + (clientRetries > 0 ? 1 : 0);
    sums.inputTokens += usage?.inputTokens ?? 0;
    sums.outputTokens += usage?.outputTokens ?? 0;
    sums.cachedInputTokens += usage?.cachedInputTokens ?? 0;
    sums.cacheWriteTokens += usage?.cacheWriteTokens ?? 0;
    if (costUsd !== null) sums.costUsd = (sums.costUsd ?? 0) + costUsd;
    if (isUnpriced) sums.unpricedRequests += 1;
    if (modelServed !== null && !sums.models.includes(modelServed)) sums.models.push(modelServed);
  }
  return sums;
}

/** US dollars; null if unknown. */
type CostOf = (provider: string, model: string, usage: Usage) => number | null;

/** @param costOf prices losses of the cache; without it, their cost is unknown */
function requestsOf(requests: readonly ReadRequest[], costOf: CostOf = () => null): SessionRequest[] {
  const places = placesOf(requests);
  /** The latest request of each thread that was answered. */
  const latest = new Map<string | null, ReadRequest>();
  return requests.map((request, index) => {
    const previous = latest.get(request.thread) ?? null;
    // A reservation says nothing of how long the input was.
    if (request.usage?.inputTokens !== undefined && request.usageCertainty !== 'reserved')
      latest.set(request.thread, request);
    const { turn = 1, thread = 0 } = places[index] ?? {};
    const cacheLoss = previous && cacheLossOf(request, previous);
    return {
      ...sumsViewOf(request, previous, { turn, thread }),
      cacheLoss: cacheLoss && { ...cacheLoss, costUsd: lossUsd(request, cacheLoss.tokens, costOf) },
    };
  });
}

function sumsViewOf(
  request: ReadRequest,
  previous: ReadRequest | null,
  { turn, thread }: { turn: number; thread: number },
): Omit<SessionRequest, 'cacheLoss'> {
  const { usage, step, isFailed: _, isUnpriced: __, thread: ___, ...own } = request;
  const inputTokens = usage?.inputTokens ?? null;
  const inputBefore = previous?.usage?.inputTokens ?? null;
  const isOther = previous !== null && request.modelServed !== null && previous.modelServed !== request.modelServed;
  return {
    ...own,
    inputTokens,
    outputTokens: usage?.outputTokens ?? null,
    cachedInputTokens: usage?.cachedInputTokens ?? null,
    cacheWriteTokens: usage?.cacheWriteTokens ?? null,
    turn,
    thread,
    isToolResult: step === null ? null : step === 'tools',
    modelBefore: isOther ? previous.modelServed : null,
    isShorter: inputTokens !== null && inputBefore !== null && inputTokens < inputBefore / 2,
  };
}

/** Providers count cached tokens in blocks, so a small difference is not significant. */
const minShare = 0.1;
/** Anthropic's caches, and usually OpenAI's, expire five minutes after the last read. */
const cachePauseMs = 5 * 60_000;

function cacheLossOf(request: ReadRequest, previous: ReadRequest): Omit<CacheLoss, 'costUsd'> | null {
  const { usage, modelServed, provider, startedAt } = request;
  const cachedBefore = cachedAfter(previous);
  const cached = usage?.cachedInputTokens ?? 0;
  const isGrown = (usage?.inputTokens ?? 0) >= (previous.usage?.inputTokens ?? 0);
  if (cachedBefore === 0 || !usage || !isGrown || cachedBefore - cached <= cachedBefore * minShare) return null;
  const tokens = cachedBefore - cached;
  if (modelServed !== previous.modelServed || provider !== previous.provider) return { cause: 'target', tokens };
  const idleMs = startedAt - previous.startedAt - (previous.totalMs ?? 0);
  return { cause: idleMs > cachePauseMs ? 'pause' : 'prefix', tokens };
}

/**
 * The ledger's figure less what the model's prices make of it with these tokens from the cache, so that tiers and prices of its
 * time count.
 */
function lossUsd(
  { usage, costUsd, provider, modelServed }: ReadRequest,
  tokens: number,
  costOf: CostOf,
): number | null {
  if (!usage || costUsd === null || provider === null || modelServed === null) return null;
  const { cachedInputTokens = 0, cacheWriteTokens = 0, cacheWriteOneHourTokens = 0 } = usage;
  const written = Math.max(0, cacheWriteTokens - tokens);
  const kept: Usage = {
    ...usage,
    cachedInputTokens: Math.min(cachedInputTokens + tokens, usage.inputTokens ?? 0),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens: written }),
    ...(cacheWriteOneHourTokens > 0 && { cacheWriteOneHourTokens: Math.min(cacheWriteOneHourTokens, written) }),
  };
  const paid = costOf(provider, modelServed, usage);
  const cheaper = costOf(provider, modelServed, kept);
  if (paid === null || cheaper === null) return null;
  return paid === 0 ? 0 : Math.max(0, (costUsd / paid) * (paid - cheaper));
}

/** Tokens that the next request could read from the cache. Only Anthropic reports what it writes. */
function cachedAfter({ usage }: ReadRequest): number {
  return (usage?.cachedInputTokens ?? 0) + (usage?.cacheWriteTokens ?? 0);
}

/** `views`: of the same requests. */
function turnsOf(requests: readonly ReadRequest[], views: readonly SessionRequest[]): SessionTurn[] {
  const byTurn = Map.groupBy(requests, (_, index) => views[index]?.turn ?? 1);
  const contexts = new Map<number, number>();
  for (const { turn, thread, inputTokens, usageCertainty } of views) {
    if (thread === 0 && inputTokens !== null && usageCertainty !== 'reserved') contexts.set(turn, inputTokens);
  }
  return [...byTurn].map(([turn, turnRequests]) => {
    const ends = turnRequests.map(({ startedAt, outcome, totalMs }) =>
      outcome === null ? null : startedAt + (totalMs ?? 0),
    );
    const knownEnds = ends.filter((end) => end !== null);
    return {
      turn,
      startedAt: turnRequests[0]?.startedAt ?? 0,
      endedAt: knownEnds.length < ends.length ? null : Math.round(Math.max(...knownEnds)),
      contextTokens: contexts.get(turn) ?? null,
      ...sumsOf(turnRequests),
    };
  });
}
