/** What is recorded of a request. Durations are milliseconds (fractions allowed), moments are Unix milliseconds. */
import type { Operation } from './capability.ts';

/** How far the numbers of a usage can be trusted. */
export type UsageCertainty = 'reported' | 'partial' | 'estimated' | 'none';

/** Counted as OpenAI counts: input includes cached tokens, output includes reasoning. An absent field is unknown. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
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

/** Classes of failure; what each leads to stands in `docs/architecture.md`, "Failures". */
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
  | 'client-gone';

/** Why an attempt was made: the request's first, once more at the same target, at the next one, or beside or after another. */
export type AttemptCause = 'first' | 'retry' | 'fallback' | 'hedge' | 'rescue';

/** One call to one target. */
export interface AttemptRecord {
  cause: AttemptCause;
  provider: string;
  credential: string | null;
  model: string | null;
  startedAt: number;
  /** Set if a connection was opened for it. */
  connectMs: number | null;
  firstByteMs: number | null;
  /** To the first event of a stream that said something. */
  firstContentMs: number | null;
  /** The longest silence between two pieces of the reply. */
  longestGapMs: number | null;
  totalMs: number | null;
  /** The upstream's status; null if it never answered. */
  status: number | null;
  failure: FailureClass | null;
  /** For a person; never holds a secret. */
  error: string | null;
  /** Malformed events of its stream, which were left out. */
  droppedEvents: number;
  upstreamRequestId: string | null;
  /** Its own part of the request's usage and cost. */
  usage: Usage | null;
  usageCertainty: UsageCertainty;
  costUsd: number | null;
}

export type RequestOutcome = 'ok' | 'error' | 'client-gone' | 'stream-broken' | 'interrupted';

/** Known when a request is admitted. */
export interface RequestStarted {
  /** The `x-request-id` Sluice gives it: `req_` and 32 hexadecimal digits. */
  id: string;
  startedAt: number;
  keyId: string | null;
  groupId: string | null;
  /** Path as in the route table: `/v1/videos/{id}/content`. */
  route: string;
  method: string;
  capability: Operation | null;
  modelAsked: string | null;
  stream: boolean;
}

/** What a request has reserved of the limits of its key or group. Stands for what it used where the program is killed meanwhile. */
export interface Reserved {
  usage: Usage;
  /** US dollars; null: no price is known. */
  costUsd: number | null;
}

/** The whole row, once the request has ended. */
export interface RequestRecord extends RequestStarted {
  outcome: RequestOutcome;
  /** What the client was answered; null if it left before. */
  status: number | null;
  /** OpenAI error code or Sluice's own, if it ended in an error. */
  errorCode: string | null;
  /** The name the provider knows, of the target that answered. */
  modelServed: string | null;
  provider: string | null;
  credential: string | null;
  queueMs: number | null;
  connectMs: number | null;
  firstByteMs: number | null;
  totalMs: number;
  bytesIn: number;
  bytesOut: number;
  attempts: AttemptRecord[];
  /** Of all attempts together. */
  usage: Usage | null;
  usageCertainty: UsageCertainty;
  /** US dollars; null where no price is known, which is not 0. */
  costUsd: number | null;
  /** The client's `user-agent`, cut at 200 characters. */
  client: string | null;
  /** The client's own count of its retries (`x-stainless-retry-count`). */
  clientRetries: number;
}

/** As they came, one entry a value; what is secret is taken out. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** What is kept of an exchange where the group wants that. */
export interface CapturedExchange<Body> {
  /** Null where it was not kept. */
  request: Body | null;
  response: Body | null;
  /** Those that the client sent, and those that the provider answered with; null where there were none. */
  requestHeaders: HeaderList | null;
  responseHeaders: HeaderList | null;
}

/** What usage can be summed by. */
export const usageDimensions = ['day', 'key', 'group', 'model', 'provider'] as const;
export type UsageDimension = (typeof usageDimensions)[number];

/** Sums over requests. */
export interface UsageTotals {
  requests: number;
  /** Failed, broken off or interrupted; not those whose client left. */
  errors: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  seconds: number;
  characters: number;
  images: number;
  /** The sum of the costs that are known; null if there are requests that may have cost something and of none is it known. */
  costUsd: number | null;
  /** Requests that may have cost something, but how much is not known. */
  unpricedRequests: number;
}
