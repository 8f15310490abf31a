/** An answer in a form that is independent of any API, as a whole and as the events of a stream. */

import type { Usage } from '../../contract/ledger.ts';
import type { Overflow } from '../core/upstream-error.ts';
import { plausibleUsage, StreamedUsage, type UsageReports, unbounded } from '../core/usage/reported-usage.ts';
import type { CallPart, ForeignPart, MediaPart, RefusalPart, Seal, TextPart, ThinkingPart } from './conversation.ts';

export interface Answer {
  /** The upstream's id; may be empty. */
  id: string;
  parts: AnswerPart[];
  stop: Stop;
  usage: TokenUsage | null;
  /** Absent if there are none. */
  citations?: Citation[];
}

export type AnswerPart = TextPart | RefusalPart | MediaPart | ThinkingPart | CallPart | ForeignPart;

export interface Stop {
  reason: StopReason;
  /** The stop sequence that was met, if the upstream reports it. */
  sequence?: string | undefined;
  /** Why the answer was filtered, in the upstream's words. */
  detail?: string | undefined;
}

/** Where the answer has something from: a page that has an address. */
export interface Citation {
  url: string;
  title: string;
  /** Null if it is unknown. */
  place: CitedPlace | null;
}

/**
 * A part of the answer's text in UTF-16 code units, as JavaScript and OpenAI count. To the text belong pictures that are told
 * as text, but neither thoughts nor refusals.
 */
export interface CitedPlace {
  start: number;
  end: number;
  /** Null if that part of the text has not come. */
  quote: Quote | null;
}

/** The same place in bytes of UTF-8, and what is said there; null if the citations repeat too much of the text. */
interface Quote {
  startByte: number;
  endByte: number;
  text: string | null;
}

/** A citation as its upstream tells it. */
export interface Source {
  url: string;
  title: string;
  place: SourcePlace | null;
}

export type SourcePlace =
  | { unit: 'characters'; start: number; end: number }
  /**
   * Bytes of UTF-8. `starts`: where it may start, the likeliest first. `text`: what is said there; null if that is not told.
   */
  | { unit: 'bytes'; starts: number[]; length: number; text: string | null }
  /** All since the latest `passage`. */
  | { unit: 'passage' };

/**
 * `length`: the request's limit; `window`: the model's. `pause`: a tool that the provider runs takes long, and the
 * client should continue with another request. `malformed`: the provider could not parse the model's tool call.
 */
export type StopReason = 'end' | 'sequence' | 'tool' | 'length' | 'window' | 'pause' | 'filter' | 'malformed';

/** Token counts in disjoint categories: their sum is the total number of processed tokens. */
export interface TokenUsage {
  /** Neither read from a cache nor written to one. */
  input: number;
  cacheRead: number;
  /** Written to a cache, with any lifetime. */
  cacheWrite: number;
  /** The part of `cacheWrite` that lives for an hour. */
  cacheWriteOneHour: number;
  /** Visible to the client. */
  output: number;
  reasoning: number;
}

/**
 * Order of events: `start`, then content, then `stop` and `usage` in either order, then `end`. `error` may end a stream
 * anywhere. `call-end` may be missing. A `thinking` block ends with its `seal`, or with the first event that is not
 * thinking.
 */
export interface CallEvent {
  type: 'call';
  /** Distinguishes the calls of an answer. */
  index: number;
  id: string;
  name: string;
  namespace?: string | undefined;
  kind: CallPart['kind'];
  ownType?: string | undefined;
  seal?: Seal | undefined;
}

/** A piece of text that the next events of a stream usually continue. */
export type DeltaEvent =
  | { type: 'text' | 'thinking'; text: string }
  | { type: 'arguments'; index: number; text: string };

export type AnswerEvent =
  | DeltaEvent
  | { type: 'start'; id: string }
  | { type: 'refusal'; text: string }
  /** `call`: the index of the call to which it belongs, of which it is told after the call has begun. */
  | { type: 'seal'; seal: Seal; call?: number }
  | CallEvent
  /** `isCut`: the answer's limit or a filter cut the call off, so that its arguments are no whole object. */
  | { type: 'call-end'; index: number; isCut?: true }
  | { type: 'media'; part: MediaPart }
  | { type: 'foreign'; name: string }
  /** The next text begins a passage that may be cited as a whole. The first one begins without it. */
  | { type: 'passage' }
  /** From upstreams; clients get a `citation` instead. */
  | { type: 'source'; source: Source }
  | { type: 'citation'; citation: Citation }
  | { type: 'stop'; stop: Stop }
  /** The usage known so far; the last report counts. */
  | { type: 'usage'; usage: TokenUsage }
  | { type: 'error'; error: AnswerError }
  | { type: 'end' };

/** An error in place of an answer, or within one. */
export interface AnswerError {
  message: string;
  /** OpenAI's names, as in `ErrorBody`. */
  type: string;
  code: string | null;
  /** The status that belongs to it; absent for an error that only occurs within streams. */
  status?: number;
  /** For a context that is too long. */
  overflow?: Overflow;
}

// Token counts for clients, from the usage that upstreams report.

export const noUsage: TokenUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteOneHour: 0,
  output: 0,
  reasoning: 0,
};

/** The usage that the events of a stream report. */
export class EventUsage {
  readonly #usage: StreamedUsage;

  constructor(reports: UsageReports) {
    this.#usage = new StreamedUsage(reports);
  }

  /** An event with the usage so far, if this one reports any. */
  eventsOf(event: Record<string, unknown>): AnswerEvent[] {
    const usage = this.#usage.push(event);
    return usage === null ? [] : [{ type: 'usage', usage: tokensOf(usage) }];
  }
}

/** The usage as the ledger has it, with each token counted once. */
function tokensOf(reported: Usage): TokenUsage {
  const { usage } = plausibleUsage(reported, unbounded);
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  return {
    input: Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens),
    cacheRead: cachedInputTokens,
    cacheWrite: cacheWriteTokens,
    cacheWriteOneHour: usage.cacheWriteOneHourTokens ?? 0,
    output: Math.max(0, outputTokens - reasoningTokens),
    reasoning: reasoningTokens,
  };
}

/** All tokens that the model read. */
export function promptTokens({ input, cacheRead, cacheWrite }: TokenUsage): number {
  return input + cacheRead + cacheWrite;
}
