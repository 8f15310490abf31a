/** The ledger's records. Durations are in milliseconds (fractions allowed), times in Unix milliseconds. */

import type { CaptureCause } from './capture.ts';
import type { LossNote } from './loss-codes.ts';
import type { Operation } from './operations.ts';

/**
 * How reliable a usage is. `reserved`: as much as the request might have used, because a hard budget applies and the usage
 * stayed unknown.
 */
export type UsageCertainty = 'reported' | 'partial' | 'estimated' | 'reserved' | 'none';

/** Whether the figures are Sluice's rather than the provider's. They are shown as approximate. */
export function isApproximate(certainty: UsageCertainty): certainty is 'estimated' | 'reserved' {
  return certainty === 'estimated' || certainty === 'reserved';
}

/** Of the tiers that services sell by tokens at another price than usual; `fast` is Anthropic's `speed`. */
export type PriceTier = 'priority' | 'flex' | 'fast';

/** What the price of an answer depends on beside its usage. */
export interface PriceTerms {
  /** Null: the usual one. */
  tier: PriceTier | null;
  /** Searches of the web that the provider ran. */
  searches: number;
}

/** On what terms a request may be answered; each is the dearest that it allows. */
export interface AskedTerms {
  /** The tier that it names. Null: none that costs otherwise. */
  tier: PriceTier | null;
  /** It leaves the tier to the account's settings, which may say `priority`. */
  isTierOpen: boolean;
  /** The most searches of the web that the provider may run. */
  searches: number;
  /** What is written to a cache may stay there for an hour. */
  cachesForAnHour: boolean;
  /** The answer has told of what kinds its input was. */
  isInputTold?: true;
  /** The most tokens of its input that may be sound. */
  heardTokens: number;
  /** The answer may be sound. */
  speaks: boolean;
}

/** Counted as OpenAI does: input includes cached tokens, output includes reasoning. An absent field is unknown. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` that is cached for an hour. */
  cacheWriteOneHourTokens?: number;
  reasoningTokens?: number;
  audioInputTokens?: number;
  audioOutputTokens?: number;
  imageInputTokens?: number;
  imageOutputTokens?: number;
  /** Length of audio or video. */
  seconds?: number;
  /** Text turned into speech. */
  characters?: number;
  images?: number;
}

/** Failure classes; `docs/responses.md` ("Failures") describes the consequences of each. */
export type FailureClass =
  | 'transient'
  | 'silent'
  | 'rate-limit'
  | 'quota'
  | 'credential'
  | 'model-unavailable'
  | 'too-large'
  | 'rejected'
  | 'stream-broken'
  /** What the request asked for may have been made and billed, but no answer says so. */
  | 'lost'
  | 'shortage'
  | 'client-gone';

/**
 * Why an attempt was made: the first, another one at the same target (`retry`) or at another target (`fallback`), one
 * in parallel to a silent one (`hedge`), or one that continues a broken stream (`rescue`).
 */
export type AttemptCause = 'first' | 'retry' | 'fallback' | 'hedge' | 'rescue';

/** One call to one target. */
export interface AttemptRecord {
  cause: AttemptCause;
  provider: string;
  credential: string | null;
  model: string | null;
  startedAt: number;
  /** Null if a pooled connection was used. */
  connectMs: number | null;
  firstByteMs: number | null;
  /** Time to the first stream event with content. */
  firstContentMs: number | null;
  /** The longest pause between two chunks of the response. */
  longestGapMs: number | null;
  totalMs: number | null;
  /** The upstream's HTTP status; null if it never responded. */
  status: number | null;
  failure: FailureClass | null;
  /** For a person; never contains a secret. */
  error: string | null;
  /** Malformed stream events that were omitted. */
  droppedEvents: number;
  upstreamRequestId: string | null;
  /** This attempt's part of the request's usage and cost. */
  usage: Usage | null;
  usageCertainty: UsageCertainty;
  costUsd: number | null;
}

export type RequestOutcome = 'ok' | 'error' | 'client-gone' | 'stream-broken' | 'interrupted';

/** The session that a request belongs to. */
export interface RequestSession {
  /** As in `SessionView`. */
  id: string;
  /**
   * The value of `x-sluice-session`. Null if the header was absent, and in records read from the ledger, where the
   * session has the name.
   */
  name: string | null;
  /**
   * Eight hexadecimal digits that differ between conversations of one session, such as those of subagents; null if
   * unknown.
   */
  thread: string | null;
  /** Whether the request ends with a person's message or with tool results; null if with neither. */
  step: 'prompt' | 'tools' | null;
  /** The tool results with which the request ends. */
  tools: readonly ToolResult[];
}

/** The result of one tool call. Its content is in the request's capture, if there is one. */
export interface ToolResult {
  /** Null if the request does not contain it. */
  name: string | null;
  /** Length of the result as it is in the request. */
  bytes: number;
  /**
   * Whether the client marked it as failed, which is possible only in requests of Anthropic's, Gemini's and the
   * Converse API.
   */
  hasFailed: boolean;
}

/** The part of a record that is known once a request is admitted. */
export interface RequestStarted {
  /** The `x-request-id` that Sluice assigns: `req_` and 32 hexadecimal digits. */
  id: string;
  startedAt: number;
  keyId: string | null;
  groupId: string | null;
  /** The path in the route table: `/v1/videos/{id}/content`. */
  route: string;
  method: string;
  capability: Operation | null;
  modelAsked: string | null;
  stream: boolean;
  /** Null if it belongs to no session. */
  session: RequestSession | null;
  /**
   * The client's request that this shadow repeated at another target; null if it is a client's own. Only earlier versions sent
   * shadows. They are not counted for any key. Usage by key or group lists them under `shadow:` followed by the group's id.
   */
  shadowOf: ShadowedRequest | null;
}

/** The client's request that a shadow repeated, as it ended. */
export interface ShadowedRequest {
  /** Its request id. */
  id: string;
  provider: string | null;
  /** The upstream model that answered it. */
  model: string | null;
  /** US dollars; null if unknown. */
  costUsd: number | null;
  firstByteMs: number | null;
  totalMs: number;
  outputTokens: number | null;
}

/**
 * The amounts that a request has reserved from its key's or group's limits. They are counted as its usage if the
 * process is killed before it ends.
 */
export interface Reserved {
  usage: Usage;
  /** US dollars; null if no price is known. */
  costUsd: number | null;
}

/** The complete record, once the request has ended. */
export interface RequestRecord extends RequestStarted {
  outcome: RequestOutcome;
  /** The status sent to the client; null if it disconnected before. */
  status: number | null;
  /** OpenAI's error code or Sluice's own, if the request failed. */
  errorCode: string | null;
  /** The upstream model of the target that answered. */
  modelServed: string | null;
  provider: string | null;
  credential: string | null;
  queueMs: number | null;
  connectMs: number | null;
  /** From the start of the request, including failed attempts; `connectMs` is that of the attempt that answered. */
  firstByteMs: number | null;
  totalMs: number;
  bytesIn: number;
  bytesOut: number;
  attempts: AttemptRecord[];
  /** The sum over all attempts. */
  usage: Usage | null;
  usageCertainty: UsageCertainty;
  /** US dollars; null (not 0) if no price is known. */
  costUsd: number | null;
  /** The client's `user-agent`, truncated to 200 characters, followed by its `X-Title` in brackets if it sends one. */
  client: string | null;
  /** The client's own retry count (`x-stainless-retry-count`, sent by OpenAI's SDKs). */
  clientRetries: number;
  /** What the translation for the answering target dropped; empty if nothing was translated. */
  dropped: readonly LossNote[];
  /** What the translation emulated. */
  emulated: readonly LossNote[];
  /** Why headers and bodies are kept; null if they are not. */
  captured: CaptureCause | null;
  /** What the response cache did; null if it was not involved. */
  cached: CacheNote | null;
  /**
   * The faults on purpose that the client met, such as `stall` or `late-head, stall`; null if none. The outcome of such
   * a request says nothing about a provider and is not counted as an error.
   */
  fault: string | null;
  /** What a cassette did: it answered instead of a provider, or it recorded the answer; null if neither. */
  cassette: CassetteNote | null;
  /**
   * For a shadow: whether its answer was the same as that of the request it repeated; null if they could not be compared.
   */
  sameAnswer: boolean | null;
}

/** The client of rows that Sluice itself writes, for the usage of a job that it has asked about. */
export const ownClient = 'Sluice';

export const cassetteNotes = ['replayed', 'recorded'] as const;
export type CassetteNote = (typeof cassetteNotes)[number];

/** The name of a group's shadows in usage by key and by group. It cannot be an id, because ids contain no colon. */
export const shadowAccount = (groupId: string | null): string => `${shadowPrefix}${groupId ?? ''}`;
const shadowPrefix = 'shadow:';

/** The group in such a name; null for the id of a key or group. */
export function groupOfShadows(name: string): string | null {
  return name.startsWith(shadowPrefix) ? name.slice(shadowPrefix.length) : null;
}

/**
 * `hit`: answered from the cache. `shared`: answered together with an equal running request. `miss`: answered by a
 * provider.
 */
export interface CacheNote {
  result: 'hit' | 'shared' | 'miss';
  /** The cost of the original request in US dollars; null if unknown, or on a miss. */
  savedUsd: number | null;
  savedUsage: Usage | null;
}

/** The dimensions by which usage can be grouped. */
export const usageDimensions = ['day', 'key', 'group', 'model', 'provider'] as const;
export type UsageDimension = (typeof usageDimensions)[number];

/** The columns of usage, in window and command line. */
export const usageColumns = {
  requests: 'Requests',
  failed: 'Failed',
  refused: 'Refused',
  tokens: 'Tokens',
  cost: 'Cost',
};

/** What stands for the name of requests without one. */
export const namelessUsage = {
  model: 'without a model',
  provider: 'no provider called',
  key: 'no valid key',
  group: 'no group',
};

export const ofUnknownCost = (requests: string) => `${requests} of unknown cost`;

/** What is known of a cost: an amount, that nothing was spent, or that something may have been and nobody knows how much. */
export type KnownCost = number | 'nothing' | 'unknown';

/** Of a request, which may still run, or of an attempt. `isUsed`: it has a usage, without which it was no free answer either. */
export function costOf(
  { outcome, costUsd }: Pick<AttemptRecord, 'costUsd'> & { outcome?: RequestOutcome | null },
  isUsed: boolean,
): KnownCost {
  return outcome === null || (costUsd === 0 && !isUsed) ? 'nothing' : (costUsd ?? 'unknown');
}

/** Of the sum of several; those of unknown cost are not in the amount. */
export function costOfSum({ costUsd, unpricedRequests }: Pick<UsageTotals, 'costUsd' | 'unpricedRequests'>): KnownCost {
  return costUsd ?? (unpricedRequests > 0 ? 'unknown' : 'nothing');
}

/** Sums over requests. */
export interface UsageTotals {
  requests: number;
  /** Failed, broken or interrupted requests, except those whose client disconnected or met a fault on purpose. */
  failed: number;
  /** Not among `failed`: those that Sluice refused with a 4xx before asking a provider, the caller's mistakes. */
  refused: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  seconds: number;
  characters: number;
  images: number;
  /** The sum of all known costs; null if requests may have cost something but no cost is known. */
  costUsd: number | null;
  /** Requests that may have cost something, but whose cost is unknown. */
  unpricedRequests: number;
}

/** The `X-Title` of requests of the window itself, which no client sent. */
export const windowTitle = 'Sluice window';
