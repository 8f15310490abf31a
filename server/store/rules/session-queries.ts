/** Questions about sessions: their conditions for both databases, and what is made of the rows. */

import { captureCauses } from '../../contract/capture.ts';
import { countsAsFailed, unpriced, verdictOf } from '../../contract/count.ts';
import type { RequestOutcome, RequestSession, ToolResult, Usage, UsageCertainty } from '../../contract/ledger.ts';
import type { Within } from '../../contract/people.ts';
import type {
  CacheLoss,
  SessionInFull,
  SessionRequest,
  SessionRequestFacts,
  SessionSums,
  SessionTurn,
  SessionView,
} from '../../contract/session-views.ts';
import { json, number, type Row, text } from './columns.ts';
import {
  allOf,
  anyOf,
  asNumber,
  isAmong,
  literal,
  raw,
  rowSql,
  type Sql,
  type SqlNotation,
  sql,
} from './condition-sql.ts';

/** All given conditions must hold. */
interface SessionConditions {
  keyId?: string;
  groupId?: string;
  /** One of these. */
  client?: string | readonly string[];
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
    client !== undefined && isAmong('client', [client].flat()),
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
    failed: 0,
    refused: 0,
    retries: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    costUsd: null,
    unpricedRequests: 0,
    models: [],
  };
  for (const { attempts, clientRetries, usage, costUsd, verdict, isUnpriced, modelServed } of requests) {
    if (countsAsFailed(verdict)) sums.failed += 1;
    if (verdict === 'refused') sums.refused += 1;
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
  const { usage, step, isUnpriced: _, thread: __, ...own } = request;
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

// Finds the turns of a session: a person's message, and all requests that answer it.

/** The fields of a request that determine its turn. */
export interface TurnRequest {
  outcome: RequestOutcome | null;
  clientRetries: number;
  thread: string | null;
  step: RequestSession['step'];
}

interface TurnPlace {
  /** From 1. */
  turn: number;
  /** 0: the main one; others in order of their first request. */
  thread: number;
}

/**
 * The main conversation is the one with most requests. Requests of other conversations are subagents or side tasks, and
 * belong to the turn in progress. After the last request of the main conversation, the same rule is applied to the
 * rest, because a compacted conversation starts anew.
 *
 * @param requests in order of arrival
 */
export function placesOf(requests: readonly TurnRequest[]): TurnPlace[] {
  const mains = mainThreads(requests);
  const numbers = new Map<string | null, number>();
  const places: TurnPlace[] = [];
  let turn = 0;
  let previous: TurnRequest | null = null;
  for (const [index, request] of requests.entries()) {
    const isMain = request.thread === mains[index];
    if (isMain) {
      if (turn === 0 || (request.step === 'prompt' && !isAgain(request, previous))) turn++;
      previous = request;
    } else if (!numbers.has(request.thread)) numbers.set(request.thread, numbers.size + 1);
    places.push({ turn: Math.max(turn, 1), thread: isMain ? 0 : (numbers.get(request.thread) ?? 0) });
  }
  return places;
}

/** The same prompt was sent again after a failure. */
function isAgain(request: TurnRequest, previous: TurnRequest | null): boolean {
  if (previous?.step !== 'prompt') return false;
  return request.clientRetries > 0 || (previous.outcome !== null && previous.outcome !== 'ok');
}

/** A session of more changes consists of single requests rather than of conversations. */
const maxMains = 20;

/** For each request, the thread that is the main one at that time. */
function mainThreads(requests: readonly TurnRequest[]): (string | null)[] {
  const mains: (string | null)[] = [];
  for (let changes = 0; mains.length < requests.length; changes++) {
    if (changes === maxMains) return [...mains, ...requests.slice(mains.length).map(({ thread }) => thread)];
    const laterRequests = requests.slice(mains.length);
    const main = mostUsed(laterRequests);
    const end = laterRequests.findLastIndex(({ thread }) => thread === main) + 1;
    for (let index = 0; index < end; index++) mains.push(main);
  }
  return mains;
}

function mostUsed(requests: readonly TurnRequest[]): string | null {
  const uses = new Map<string | null, number>();
  for (const { thread } of requests) uses.set(thread, (uses.get(thread) ?? 0) + 1);
  let main: string | null = null;
  let most = 0;
  for (const [thread, count] of uses) {
    if (count <= most) continue;
    main = thread;
    most = count;
  }
  return main;
}

/** The fields of a request that are needed to show its session. */
export interface ReadRequest extends SessionRequestFacts {
  usage: Usage | null;
  usageCertainty: UsageCertainty;
  costUsd: number | null;
  isUnpriced: boolean;
  thread: string | null;
  step: RequestSession['step'];
  tools: readonly ToolResult[];
  isCaptured: boolean;
}

/** A single attempt that went well is not stored: see `rows.ts`. */
export const requestColumns = (notation: SqlNotation) =>
  'seq, id, started_at, outcome, status, error_code, model_asked, model_served, provider, total_ms, first_byte_ms, ' +
  'client_retries, usage, usage_certainty, cost_usd, thread, step, tools, captured, fault, ' +
  `${asNumber(rowSql(unpriced, notation))} AS unpriced, ` +
  'CASE WHEN attempts IS NOT NULL THEN json_array_length(attempts) WHEN provider IS NULL THEN 0 ELSE 1 END AS attempt_count';

/**
 * While a request runs, its usage columns hold the reservation, which is not shown.
 *
 * @param inMemory ids of requests whose capture is in memory
 */
export function readRequest(row: Row, inMemory?: ReadonlySet<string>): ReadRequest {
  const outcome = text(row.outcome) as RequestOutcome | null;
  const hasEnded = outcome !== null;
  const provider = text(row.provider);
  const costUsd = hasEnded ? number(row.cost_usd) : null;
  const id = text(row.id) ?? '';
  return {
    id,
    startedAt: number(row.started_at) ?? 0,
    outcome,
    verdict: verdictOf({ outcome, status: number(row.status), provider, fault: text(row.fault) }),
    status: number(row.status),
    errorCode: text(row.error_code),
    modelAsked: text(row.model_asked),
    modelServed: text(row.model_served),
    provider,
    totalMs: number(row.total_ms),
    firstByteMs: number(row.first_byte_ms),
    attempts: number(row.attempt_count) ?? 0,
    clientRetries: number(row.client_retries) ?? 0,
    usage: hasEnded ? json<Usage | null>(row.usage, null) : null,
    usageCertainty: (hasEnded ? (text(row.usage_certainty) as UsageCertainty | null) : null) ?? 'none',
    costUsd,
    isUnpriced: hasEnded && row.unpriced === 1,
    thread: text(row.thread),
    step: row.step === 'prompt' || row.step === 'tools' ? row.step : null,
    tools: json<ToolResult[]>(row.tools, []),
    isCaptured: captureCauses.some((cause) => cause === row.captured) || inMemory?.has(id) === true,
  };
}
