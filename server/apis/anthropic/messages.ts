/** The wire of `POST /v1/messages`: requests, whole answers and streams of Anthropic's API. */
import type { ErrorBody } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { statusOfError } from '../core/errors/error-names.ts';
import { conversationFields, conversationOf, sessionFields } from '../core/requests/client-session.ts';
import type { StreamEvent } from '../core/sse-event.ts';
import type { EventMeaning, Framing, StreamEnd, StreamFormat, StreamWatch } from '../core/stream-format.ts';
import { sseFraming } from '../core/streams/sse-framing.ts';
import { errorIn } from '../core/upstream-error.ts';
import type { MessageThread, RequestFormat, RequestView, Verdict, WholeFormat, Wire } from '../core/wire.ts';
import { parseObject } from '../json/parse-object.ts';
import { messagesUsage } from './usage.ts';
import { writeAnthropicError } from './write-error.ts';

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
