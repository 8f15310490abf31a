/** An answer as no single API writes it: whole, and as the events of a stream. */
import type { CallPart, ForeignPart, MediaPart, RefusalPart, Seal, TextPart, ThinkingPart } from './neutral.ts';

export interface Answer {
  /** As the upstream named it; may be empty. */
  id: string;
  parts: AnswerPart[];
  stop: Stop;
  usage: TokenUsage | null;
  /** It failed, and says so in the shape of an answer. */
  error?: AnswerError | undefined;
}

export type AnswerPart = TextPart | RefusalPart | MediaPart | ThinkingPart | CallPart | ForeignPart;

export interface Stop {
  reason: StopReason;
  /** The stop sequence that was met, where the upstream tells it. */
  sequence?: string | undefined;
  /** Why it was filtered, in the upstream's words. */
  detail?: string | undefined;
}

/**
 * `length`: the limit of the request; `window`: that of the model. `pause`: a tool that the provider runs takes long, and
 * the client is to ask on. `malformed`: the model called a tool in a way that its provider could not read.
 */
export type StopReason = 'end' | 'sequence' | 'tool' | 'length' | 'window' | 'pause' | 'filter' | 'malformed';

/** Tokens in buckets that do not overlap: their sum is what was processed. */
export interface TokenUsage {
  /** Read from no cache and written to none. */
  input: number;
  cacheRead: number;
  /** Written to a cache, whatever its lifetime. */
  cacheWrite: number;
  /** How many of `cacheWrite` live for an hour. */
  cacheWriteOneHour: number;
  /** Visible to the client. */
  output: number;
  reasoning: number;
}

/**
 * In this order: `start`, then content, then `stop` and `usage` in either order, then `end`; `error` ends a stream at any
 * place. `call-end` may be missing. A `thinking` block ends with its `seal`, or with anything that is no thinking.
 */
export interface CallEvent {
  type: 'call';
  /** Tells the calls of an answer apart. */
  index: number;
  id: string;
  name: string;
  namespace?: string | undefined;
  kind: CallPart['kind'];
  seal?: Seal | undefined;
}

export type AnswerEvent =
  | { type: 'start'; id: string }
  | { type: 'text' | 'refusal' | 'thinking'; text: string }
  | { type: 'seal'; seal: Seal }
  | CallEvent
  | { type: 'arguments'; index: number; text: string }
  | { type: 'call-end'; index: number }
  | { type: 'media'; part: MediaPart }
  | { type: 'foreign'; name: string }
  | { type: 'stop'; stop: Stop }
  /** All that is known up to now: the last one counts. */
  | { type: 'usage'; usage: TokenUsage }
  | { type: 'error'; error: AnswerError }
  | { type: 'end' };

/** An error in an answer's place, or in its middle. */
export interface AnswerError {
  message: string;
  /** In OpenAI's words, as `ErrorBody` has them. */
  type: string;
  code: string | null;
}
