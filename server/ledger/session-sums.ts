/** Sums over the requests of a session, and losses of the prompt cache between them. */
import type { CacheLoss, SessionRequest, SessionSums, SessionTurn } from '../contract/session-views.ts';
import type { ReadRequest } from './session-request.ts';
import { placesOf } from './session-turns.ts';

const failedOutcomes: ReadonlySet<string | null> = new Set(['error', 'stream-broken', 'interrupted']);

export function sumsOf(requests: readonly ReadRequest[]): SessionSums {
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
  for (const { outcome, attempts, clientRetries, usage, costUsd, isUnpriced, modelServed } of requests) {
    if (failedOutcomes.has(outcome)) sums.errors += 1;
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

export function requestsOf(requests: readonly ReadRequest[]): SessionRequest[] {
  const places = placesOf(requests);
  /** The latest request of each thread that was answered. */
  const latest = new Map<string | null, ReadRequest>();
  return requests.map((request, index) => {
    const before = latest.get(request.thread) ?? null;
    if (request.usage?.inputTokens !== undefined) latest.set(request.thread, request);
    const { turn = 1, thread = 0 } = places[index] ?? {};
    return viewOf(request, before, { turn, thread });
  });
}

function viewOf(
  request: ReadRequest,
  before: ReadRequest | null,
  { turn, thread }: { turn: number; thread: number },
): SessionRequest {
  const { usage, step, isUnpriced: _, thread: __, ...own } = request;
  const inputTokens = usage?.inputTokens ?? null;
  const inputBefore = before?.usage?.inputTokens ?? null;
  const isOther = before !== null && request.modelServed !== null && before.modelServed !== request.modelServed;
  return {
    ...own,
    inputTokens,
    outputTokens: usage?.outputTokens ?? null,
    cachedInputTokens: usage?.cachedInputTokens ?? null,
    cacheWriteTokens: usage?.cacheWriteTokens ?? null,
    turn,
    thread,
    isToolResult: step === null ? null : step === 'tools',
    modelBefore: isOther ? before.modelServed : null,
    cacheLoss: before && cacheLossOf(request, before),
    isShorter: inputTokens !== null && inputBefore !== null && inputTokens < inputBefore / 2,
  };
}

/** Providers count cached tokens in blocks, so a small difference is not significant. */
const minShare = 0.1;
/** Anthropic's caches, and usually OpenAI's, expire five minutes after the last read. */
const cachePauseMs = 5 * 60_000;

function cacheLossOf(request: ReadRequest, before: ReadRequest): CacheLoss | null {
  const { usage, modelServed, provider, startedAt } = request;
  const held = cachedAfter(before);
  const cached = usage?.cachedInputTokens ?? 0;
  const isGrown = (usage?.inputTokens ?? 0) >= (before.usage?.inputTokens ?? 0);
  if (held === 0 || !usage || !isGrown || held - cached <= held * minShare) return null;
  const tokens = held - cached;
  if (modelServed !== before.modelServed || provider !== before.provider) return { cause: 'target', tokens };
  const idleMs = startedAt - before.startedAt - (before.totalMs ?? 0);
  return { cause: idleMs > cachePauseMs ? 'pause' : 'prefix', tokens };
}

/** Tokens that the next request could read from the cache. Only Anthropic reports what it writes. */
function cachedAfter({ usage }: ReadRequest): number {
  return (usage?.cachedInputTokens ?? 0) + (usage?.cacheWriteTokens ?? 0);
}

/** `views`: of the same requests. */
export function turnsOf(requests: readonly ReadRequest[], views: readonly SessionRequest[]): SessionTurn[] {
  const byTurn = Map.groupBy(requests, (_, index) => views[index]?.turn ?? 1);
  const contexts = new Map<number, number>();
  for (const { turn, thread, inputTokens } of views) {
    if (thread === 0 && inputTokens !== null) contexts.set(turn, inputTokens);
  }
  return [...byTurn].map(([turn, own]) => {
    const ends = own.map(({ startedAt, outcome, totalMs }) => (outcome === null ? null : startedAt + (totalMs ?? 0)));
    const known = ends.filter((end) => end !== null);
    return {
      turn,
      startedAt: own[0]?.startedAt ?? 0,
      endedAt: known.length < ends.length ? null : Math.round(Math.max(...known)),
      contextTokens: contexts.get(turn) ?? null,
      ...sumsOf(own),
    };
  });
}
