/** Views of sessions: the requests of one conversation or of one run of an agent, in the order in which they came. */
import type { RequestOutcome, ToolResult } from './ledger.ts';

/** Sums over requests of a session. */
export interface SessionSums {
  requests: number;
  /** Requests with the outcome `error`, `stream-broken` or `interrupted`. */
  errors: number;
  /** Attempts after the first one, and requests that the client sent again. */
  retries: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  /** US dollars; null if no request has a known cost. */
  costUsd: number | null;
  unpricedRequests: number;
  /** The upstream's names, in order of first use. */
  models: string[];
}

export interface SessionView extends SessionSums {
  /** `ses_` and 16 hexadecimal digits, made of the key's id and the client's own name of the session. */
  id: string;
  /** As `x-sluice-session` named it; null if nothing did. */
  name: string | null;
  keyId: string | null;
  groupId: string | null;
  /** As in `RequestRecord`. */
  client: string | null;
  /** Unix milliseconds. */
  firstAt: number;
  lastAt: number;
  running: number;
  turns: number;
  /** When a person stopped it, in Unix milliseconds; null if it is not stopped. */
  stoppedAt: number | null;
  /** Its requests are refused because it has used up its budget. */
  isOverBudget: boolean;
  /** US dollars of known cost since its first request, or since it was last resumed. */
  budgetUsedUsd: number;
  /** False if the session has more requests than are read; sums are of the newest. */
  isComplete: boolean;
}

/**
 * Why fewer input tokens came from the provider's cache than for the request before, although the input grew: another
 * model or provider was asked (`target`), it was asked too late (`pause`), or the beginning of the input has changed (`prefix`).
 */
export type CacheLossCause = 'target' | 'pause' | 'prefix';

export interface CacheLoss {
  cause: CacheLossCause;
  /** Tokens that were read from the cache before and not this time. */
  tokens: number;
}

/** A request of a session, from its ledger row. */
export interface SessionRequestFacts {
  id: string;
  startedAt: number;
  /** Null while it runs. */
  outcome: RequestOutcome | null;
  status: number | null;
  errorCode: string | null;
  modelAsked: string | null;
  modelServed: string | null;
  provider: string | null;
  totalMs: number | null;
  firstByteMs: number | null;
  attempts: number;
  clientRetries: number;
}

export interface SessionRequest extends SessionRequestFacts {
  /** Null: unknown. */
  inputTokens: number | null;
  outputTokens: number | null;
  cachedInputTokens: number | null;
  cacheWriteTokens: number | null;
  costUsd: number | null;
  /** From 1. */
  turn: number;
  /** The conversation within the session: 0 is the main one, others are subagents and side tasks. */
  thread: number;
  /** Whether it carries tool results rather than a person's message; null: unknown. */
  isToolResult: boolean | null;
  /** The results that it carries: of calls that the answer before has made. */
  tools: readonly ToolResult[];
  /** The model that answered the request before in the same thread; null: the same one. */
  modelBefore: string | null;
  cacheLoss: CacheLoss | null;
  /** The input is less than half of the one before in the same thread, as after a compaction. */
  isShorter: boolean;
  isCaptured: boolean;
}

/** A person's message, and all requests that answer it. */
export interface SessionTurn extends SessionSums {
  /** From 1. */
  turn: number;
  startedAt: number;
  /** Of the last request; null while one runs. */
  endedAt: number | null;
  /** Input tokens of the last request of the main conversation: how large its context has become. Null: unknown. */
  contextTokens: number | null;
}

export interface SessionInFull {
  session: SessionView;
  turns: SessionTurn[];
  /** In order of arrival; the newest 5,000. */
  requests: SessionRequest[];
}
