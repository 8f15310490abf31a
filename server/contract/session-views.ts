/**
 * Views of sessions: the requests of one conversation or of one run of an agent, in order of arrival; and what a
 * session is called.
 */

import type { Verdict } from './count.ts';
import { nameOfClient } from './known-clients.ts';
import type { RequestOutcome, ToolResult, UsageCertainty } from './ledger.ts';

/** Sums over requests of a session. */
export interface SessionSums {
  requests: number;
  /** Both as in `usage`. */
  failed: number;
  refused: number;
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
  /** `ses_` and 16 hexadecimal digits, derived from the key's id and the client's own name of the session. */
  id: string;
  /** The value of `x-sluice-session`; null if the header was absent. */
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
  /** Whether its requests are refused because it has used up its budget. */
  isOverBudget: boolean;
  /** US dollars of known cost since its first request, or since it was last resumed. */
  budgetUsedUsd: number;
  /**
   * The earliest request of its main conversation whose capture is kept: what it says gives the session a title. Null if
   * there is none.
   */
  openingId: string | null;
  /** False if the session has more requests than are read; the sums are then those of the newest. */
  isComplete: boolean;
}

/**
 * Why fewer input tokens came from the provider's cache than for the previous request, although the input grew: another
 * model or provider was asked (`target`), it was asked too late (`pause`), or the beginning of the input changed
 * (`prefix`).
 */
type CacheLossCause = 'target' | 'pause' | 'prefix';

export interface CacheLoss {
  cause: CacheLossCause;
  /** Tokens that were read from the cache for the previous request but not for this one. */
  tokens: number;
  /**
   * What the request would have cost less with these tokens from the cache, in US dollars, by the model's prices. Null if
   * they are unknown.
   */
  costUsd: number | null;
}

/** The columns of the ledger's row for a request in a session. */
export interface SessionRequestFacts {
  id: string;
  startedAt: number;
  /** Null while it runs. */
  outcome: RequestOutcome | null;
  verdict: Verdict;
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
  usageCertainty: UsageCertainty;
  /** Null if unknown. */
  inputTokens: number | null;
  outputTokens: number | null;
  cachedInputTokens: number | null;
  cacheWriteTokens: number | null;
  costUsd: number | null;
  /** Starts at 1. */
  turn: number;
  /** The conversation within the session: 0 is the main one, others are those of subagents and side tasks. */
  thread: number;
  /** Whether it carries tool results rather than a person's message; null if unknown. */
  isToolResult: boolean | null;
  /** The tool results that it carries, for calls made by the previous answer. */
  tools: readonly ToolResult[];
  /** The model that answered the previous request in the same thread; null if it is the same one. */
  modelBefore: string | null;
  cacheLoss: CacheLoss | null;
  /** Whether the input is less than half of the previous one in the same thread, as after a compaction. */
  isShorter: boolean;
  /** Whether it was captured, or is one of the newest requests that are in memory. */
  isCaptured: boolean;
}

/** A person's message and all requests that answer it. */
export interface SessionTurn extends SessionSums {
  /** Starts at 1. */
  turn: number;
  startedAt: number;
  /** When the last request ended; null while one is running. */
  endedAt: number | null;
  /**
   * Input tokens of the last request of the main conversation, which shows the size of its context. Null if unknown.
   */
  contextTokens: number | null;
}

export interface SessionInFull {
  session: SessionView;
  turns: SessionTurn[];
  /** In order of arrival; at most the newest 5,000. */
  requests: SessionRequest[];
}

/** What a captured request says, in a few words. Secrets are removed, as from the capture. */
export interface RequestText {
  /** The request. */
  id: string;
  keyId: string | null;
  groupId: string | null;
  /** How the first message of a person in the conversation begins; null if there is none. */
  opening: string | null;
  /** How the message of a person begins with which the request ends; null if it ends with tool results. */
  prompt: string | null;
  /** The calls whose results the request ends with, in order. */
  calls: ToolCallText[];
  /** The folder and the branch of the code on which the client says that it works; null if it does not say so. */
  folder: string | null;
  branch: string | null;
}

export interface ToolCallText {
  name: string;
  /** The beginning of the argument that tells most, such as a command or a path; null if there is none. */
  argument: string | null;
}

type Titled = Pick<SessionView, 'name' | 'client' | 'models'>;

/**
 * The title that its requests give, or how it begins if that is captured, or the program and the model; null if nothing is
 * known.
 */
export function titleOf({ name, client, models }: Titled, opening?: RequestText): string | null {
  const [model] = models;
  const program = client && nameOfClient(client);
  return name ?? opening?.opening ?? (program && model ? `${program}, ${model}` : (program ?? model ?? null));
}

/** A session has reached an amount of its budget. Reported once for each amount. */
export interface SessionBudgetReached {
  /** As in `SessionView`. */
  sessionId: string;
  keyId: string | null;
  /** `client` of its latest request, as in `RequestRecord`. */
  client: string | null;
  /** `stop`: its further requests are refused. */
  amount: 'notify' | 'stop';
  amountUsd: number;
  usedUsd: number;
}
