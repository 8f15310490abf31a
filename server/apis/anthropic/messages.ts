import { isObject } from '../../contract/is-object.ts';
import { statusOfError } from '../core/errors/error-names.ts';
import { sessionFields } from '../core/requests/client-session.ts';
import { conversationFields, conversationOf } from '../core/requests/conversation-id.ts';
import { errorIn } from '../core/upstream-error.ts';
import type { MessageThread, RequestFormat, RequestView, Verdict, WholeFormat, Wire } from '../core/wire.ts';
import { messagesStream } from './messages-stream.ts';
import { sessionOf } from './session.ts';
import { messagesUsage } from './usage.ts';

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
  marks: ['"content"'],
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
