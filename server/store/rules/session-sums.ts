/** Sums over the requests of a session, and losses of the prompt cache between them. */
import type { Usage } from '../../contract/ledger.ts';
import type { CacheLoss, SessionRequest, SessionSums, SessionTurn } from '../../contract/session-views.ts';
import type { ReadRequest } from './session-request.ts';
import { placesOf } from './session-turns.ts';

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
export type CostOf = (provider: string, model: string, usage: Usage) => number | null;

/** @param costOf prices losses of the cache; without it, their cost is unknown */
export function requestsOf(requests: readonly ReadRequest[], costOf: CostOf = () => null): SessionRequest[] {
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
      ...viewOf(request, previous, { turn, thread }),
      cacheLoss: cacheLoss && { ...cacheLoss, costUsd: lossUsd(request, cacheLoss.tokens, costOf) },
    };
  });
}

function viewOf(
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
export function turnsOf(requests: readonly ReadRequest[], views: readonly SessionRequest[]): SessionTurn[] {
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
