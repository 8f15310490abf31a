/** The wire of `POST /v1/messages`: requests, whole answers and streams of Anthropic's API. */
import type { ErrorBody } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import type { PriceTerms } from '../../contract/ledger.ts';
import { overflowIn } from '../core/errors/context-overflow.ts';
import { statusOfError } from '../core/errors/error-names.ts';
import { conversationFields, conversationOf, sessionFields } from '../core/requests/client-session.ts';
import { sseFraming } from '../core/sse-framing.ts';
import type {
  EventMeaning,
  Framing,
  StreamEnd,
  StreamEvent,
  StreamFormat,
  StreamWatch,
} from '../core/stream-format.ts';
import { entryOf } from '../core/table-entry.ts';
import { errorIn, type Overflow } from '../core/upstream-error.ts';
import { conversationUsage } from '../core/usage/conversation-usage.ts';
import { fieldsAt, tierNamed } from '../core/usage/price-terms.ts';
import { anthropicUsage, countOf, reportedUsage, type UsageReports } from '../core/usage/reported-usage.ts';
import type { MessageThread, RequestFormat, RequestView, Verdict, WholeFormat, Wire } from '../core/wire.ts';
import { parseObject } from '../json/parse-object.ts';
import type { AnswerContext } from '../neutral/answers/wire-translation.ts';
import { noUsage, promptTokens, type Stop, type StopReason, type TokenUsage } from '../neutral/neutral-answer.ts';

// Usage and stop reasons of Anthropic's API: what an answer tells, and what clients are told.

/** Streams report usage in `message_start` and, cumulatively, in `message_delta`, which may lack the input. */
export const messagesReports: UsageReports = {
  name: 'usage',
  places: [['usage'], ['message', 'usage']],
  isComplete: () => false,
  toUsage: anthropicUsage,
};

export const messagesUsage = conversationUsage({
  allowedTokens,
  answersPaid: () => 1,
  members: { prompts: ['system', 'messages'], schemas: ['tools', 'output_config'] },
  unknownOutputTokens: 128_000,
  reported: (answer) => reportedUsage(answer, messagesReports),
  asks: (body: RequestView<'max_tokens' | 'speed'>) => ({ tier: body.field('speed') === 'fast' ? 'fast' : null }),
  termsOf,
  facts: {
    temperature: [['temperature']],
    maxTokens: [['max_tokens']],
    whole: { id: [['id']], model: [['model']], finishReason: [['stop_reason']] },
    event: { id: [['message', 'id']], model: [['message', 'model']], finishReason: [['delta', 'stop_reason']] },
  },
});

function allowedTokens(body: RequestView<'max_tokens'>): number | null {
  const maxTokens = body.field('max_tokens');
  return typeof maxTokens === 'number' && maxTokens > 0 ? Math.ceil(maxTokens) : null;
}

/** `service_tier: "priority"` is paid by commitment, not by tokens. */
function termsOf(object: Record<string, unknown>): PriceTerms {
  const usage = { ...fieldsAt(object, 'message', 'usage'), ...fieldsAt(object, 'usage') };
  const searches = countOf(fieldsAt(usage, 'server_tool_use').web_search_requests) ?? 0;
  return { tier: usage.speed === 'fast' ? tierNamed(usage.speed) : null, searches };
}

type Json = Record<string, unknown>;

const reasons: Record<string, StopReason> = {
  end_turn: 'end',
  max_tokens: 'length',
  stop_sequence: 'sequence',
  tool_use: 'tool',
  pause_turn: 'pause',
  refusal: 'filter',
  model_context_window_exceeded: 'window',
};

/** An unknown reason counts as a normal end. */
export function parseStop({ stop_reason, stop_sequence, stop_details }: Json): Stop {
  const reason = entryOf(reasons, stop_reason) ?? 'end';
  const detail = isObject(stop_details) ? stop_details.explanation : undefined;
  return {
    reason,
    sequence: typeof stop_sequence === 'string' ? stop_sequence : undefined,
    detail: typeof detail === 'string' ? detail : undefined,
  };
}

const names: Record<StopReason, string> = {
  end: 'end_turn',
  sequence: 'stop_sequence',
  tool: 'tool_use',
  length: 'max_tokens',
  window: 'model_context_window_exceeded',
  pause: 'pause_turn',
  filter: 'refusal',
  malformed: 'end_turn',
};

export function renderStop({ reason, sequence }: Stop): { stop_reason: string; stop_sequence: string | null } {
  return { stop_reason: names[reason], stop_sequence: sequence ?? null };
}

/** The API always tells the input: an estimate stands for one that the provider did not report. */
export function renderUsage(reported: TokenUsage | null, { estimatedInputTokens }: AnswerContext): Json {
  const usage = reported ?? noUsage;
  return {
    input_tokens: promptTokens(usage) > 0 ? usage.input : estimatedInputTokens,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite - usage.cacheWriteOneHour,
      ephemeral_1h_input_tokens: usage.cacheWriteOneHour,
    },
    output_tokens: usage.output + usage.reasoning,
    ...(usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {}),
  };
}

// Requests, whole answers and streams.

/** Clients expect `ping` events, where those of other APIs need only comments. */
const framing: Framing = { ...sseFraming, keepAlive: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n') };

export const messagesStream: StreamFormat = {
  framing,
  meaningOf,
  watch: () => new MessagesWatch(),
  writeError: writeAnthropicError,
  fromWhole: () => null,
  mayBeginEarly: true,
  isDecidedByResponse: false,
};

const content: EventMeaning = { kind: 'content' };
const nothing: EventMeaning = { kind: 'nothing' };

function meaningOf({ value }: StreamEvent): EventMeaning {
  const type = typeOf(value);
  if (type === 'content_block_start' || type === 'content_block_delta' || type === 'message_delta') return content;
  const error = type === 'error' ? errorIn(value) : null;
  return error ? { kind: 'error', error } : nothing;
}

function typeOf(value: unknown): unknown {
  return isObject(value) ? value.type : undefined;
}

/** The last `message_delta` has the reason and all usage. */
function hasReason(event: unknown): boolean {
  return isObject(event) && isObject(event.delta) && Boolean(event.delta.stop_reason);
}

const stopEvent = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/** Ends with `message_stop` or `error`; before its stop reason any other end of the connection is a break. */
class MessagesWatch implements StreamWatch {
  #ending: StreamEnd | null = null;
  #hasReason = false;

  note({ value }: StreamEvent): void {
    const type = typeOf(value);
    if (type === 'message_delta') this.#hasReason ||= hasReason(value);
    if (type === 'message_stop') this.#ending ??= 'complete';
    else if (type === 'error') this.#ending = 'failed';
  }

  counted(): void {}

  get isComplete(): boolean {
    return this.#ending !== null || this.#hasReason;
  }

  get hasFinished(): boolean {
    return this.#hasReason;
  }

  get saysWhy(): boolean {
    return this.#hasReason;
  }

  get mayContinue(): boolean {
    return this.#ending === null;
  }

  get isWhole(): boolean {
    return this.#ending !== 'failed' && this.#hasReason;
  }

  get missingEnd(): string {
    return this.#ending === null ? stopEvent : '';
  }

  ending(): StreamEnd | null {
    return this.#ending;
  }

  errorEvent(error: ErrorBody): string {
    return `event: error\ndata: ${writeAnthropicError(error)}\n\n`;
  }
}

const ownFields = ['max_tokens', 'metadata', 'speed', 'thread'] as const;
const fields = [...conversationFields, ...sessionFields, ...ownFields] as const;

type MessagesField = (typeof fields)[number];

const request: RequestFormat<MessagesField> = {
  fields,
  answersAsked: () => 1,
  answersPaid: () => 1,
  isTextAsked: () => false,
  isOneText: () => false,
  isBackground: () => false,
  wantsUsage: () => true,
  conversationOf: (body) => sessionIn(body) ?? conversationOf(body),
  sessionOf: sessionIn,
  threadOf,
  temperatureOf: ({ temperature }) => temperature,
  supportsPrefill: false,
};

/** A session stays with one account, to which its caches and its reasoning are bound. */
function sessionIn(body: RequestView<MessagesField>): string | undefined {
  const metadata = body.field('metadata');
  return isObject(metadata) ? sessionOf(metadata.user_id) : undefined;
}

/** Source: `resources/beta/messages/messages.ts` of Anthropic's TypeScript SDK 1.14.0, beta `message-threads-2026-08-12`. */
function threadOf(body: RequestView<MessagesField>): MessageThread | null {
  const thread = body.field('thread');
  if (!isObject(thread)) return null;
  const { previous_message_id: previousMessageId } = thread;
  return { previousMessageId: typeof previousMessageId === 'string' ? previousMessageId : null };
}

const whole: WholeFormat = {
  kind: 'json',
  members: ['content'],
  isNeverLonger: true,
  maxHeldBytes: 32 * 1024 * 1024,
  isNumbers: false,
  judge,
};

function judge(answer: Record<string, unknown>): Verdict {
  const error = 'content' in answer ? null : errorIn(answer);
  return error ? { kind: 'error', status: statusOfError(error), error } : { kind: 'answer' };
}

/** `POST /v1/messages`. */
export const messages: Wire<MessagesField> = {
  name: 'anthropic-messages',
  operation: 'chat',
  request,
  whole,
  errorName: 'type',
  usage: messagesUsage,
  stream: messagesStream,
  rescue: null,
};

const olderMark = '_session_';
/** Claude Code's values are shorter, in characters. */
const maxLength = 2000;

/**
 * Extracts the session id from Claude Code's `metadata.user_id`: JSON with a `session_id`, or, before 2.1.78,
 * `user_…_account_…_session_…`. Undefined for other clients, whose `user_id` identifies a user with many conversations.
 */
export function sessionOf(userId: unknown): string | undefined {
  if (typeof userId !== 'string' || userId.length > maxLength) return undefined;
  if (userId.startsWith('{')) {
    const session = parseObject(userId)?.session_id;
    return typeof session === 'string' && session !== '' ? session : undefined;
  }
  const at = userId.startsWith('user_') ? userId.lastIndexOf(olderMark) : -1;
  return at === -1 ? undefined : userId.slice(at + olderMark.length) || undefined;
}

// Errors of all APIs in the words of Anthropic's.

/** Anthropic's error types for the error codes of OpenAI and Sluice. Source: Anthropic, "Errors". */
const typeOfCode: Record<string, string> = {
  invalid_api_key: 'authentication_error',
  key_disabled: 'authentication_error',
  key_expired: 'authentication_error',
  insufficient_quota: 'billing_error',
  model_not_found: 'not_found_error',
  unknown_url: 'not_found_error',
  not_found: 'not_found_error',
  thread_not_found: 'not_found_error',
  conflict: 'conflict_error',
  request_too_large: 'request_too_large',
  rate_limit_exceeded: 'rate_limit_error',
  slow_down: 'rate_limit_error',
  upstream_timeout: 'timeout_error',
  no_healthy_provider: 'overloaded_error',
  shutting_down: 'overloaded_error',
  server_overloaded: 'overloaded_error',
  overloaded: 'overloaded_error',
  permission_denied: 'permission_error',
  host_not_allowed: 'permission_error',
  origin_not_allowed: 'permission_error',
  price_unknown: 'permission_error',
};

const typeOfType: Record<string, string> = {
  invalid_request_error: 'invalid_request_error',
  authentication_error: 'authentication_error',
  permission_error: 'permission_error',
  not_found_error: 'not_found_error',
  rate_limit_error: 'rate_limit_error',
  requests: 'rate_limit_error',
  tokens: 'rate_limit_error',
  insufficient_quota: 'billing_error',
  billing_error: 'billing_error',
  overloaded_error: 'overloaded_error',
  timeout_error: 'timeout_error',
  request_too_large: 'request_too_large',
};

const statusOfType: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** For the statuses from 400 to 499 whose code says no more. All others are of requests that are invalid. */
const typeOfStatus: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  424: 'api_error',
  425: 'api_error',
  429: 'rate_limit_error',
  499: 'api_error',
};

interface ErrorFields extends Pick<ErrorBody, 'message' | 'type' | 'code'> {
  /** Decides the type of an upstream's error, as far as its code does not. */
  status?: number;
  overflow?: Overflow;
}

/** The error as a response body, and as the data of an `error` event. */
export function writeAnthropicError(error: ErrorFields): string {
  const type = anthropicErrorType(error);
  const details = error.code !== null && detailedCodes.has(error.code) ? { details: { error_code: error.code } } : {};
  return JSON.stringify({ type: 'error', error: { type, message: wordsOf(error), ...details } });
}

/** Codes that clients act on. Anthropic's API has a place for them since its versions of 2026 (`error.details.error_code`). */
const detailedCodes = new Set(['purchase_outcome_unknown', 'thread_not_found', 'thread_unsupported_request']);

export function anthropicErrorType({ type, code, status }: ErrorFields): string {
  const byCode =
    entryOf(typeOfCode, code) ?? (code === 'context_length_exceeded' ? 'invalid_request_error' : undefined);
  if (byCode !== undefined) return byCode;
  if (status !== undefined && status < 500) return typeOfStatus[status] ?? 'invalid_request_error';
  return entryOf(typeOfType, type) ?? 'api_error';
}

/** The HTTP status with which Anthropic's API sends the error. @param otherStatus for an error that has no type there */
export function anthropicErrorStatus(error: ErrorFields, otherStatus = error.status ?? 500): number {
  const type = anthropicErrorType(error);
  if (type === 'timeout_error' && error.status === 408) return error.status;
  return type === 'api_error' && otherStatus >= 400 ? otherStatus : (entryOf(statusOfType, type) ?? 500);
}

/** Claude Code compacts a conversation when it finds this wording, and cuts as much as the two numbers say. */
function wordsOf(error: ErrorFields): string {
  const { message } = error;
  const overflow = error.overflow ?? overflowIn(error);
  if (overflow === null) return message;
  const { tokens, limit } = overflow;
  if (tokens !== null && limit !== null) return `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  return message.toLowerCase().startsWith('prompt is too long') ? message : `prompt is too long: ${message}`;
}
