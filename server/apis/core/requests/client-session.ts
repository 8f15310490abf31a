/** What a request tells of its conversation and of the client's session. */

import { createHash } from 'node:crypto';
import { isObject } from '../../../contract/is-object.ts';
import { JsonNames } from '../../json/json-names.ts';
import { fieldValue, peekJson } from '../../json/json-peek.ts';
import { type ByteRange, skipSpace } from '../../json/json-scan.ts';
import type { HeaderFields, RequestView } from '../wire.ts';
import { type Turns, turnFields, turnsIn } from './turn-step.ts';

/** A session as the client names it. */
export interface ClientSession {
  name: string;
  /** The name is meant for people to read. */
  isForPeople: boolean;
  /** The client's name for one conversation within the session; null if it names none. */
  thread: string | null;
}

/** Longer values are not names. */
const maxLength = 512;

/**
 * Headers that name a session, and those that name a conversation within it. Taken from recorded requests of Claude
 * Code 2.1.197 (`x-claude-code-agent-id` is a subagent's), opencode 1.18 (a subagent has its own session and names its
 * parent's), Codex 0.169 and, with underscores, Codex of 2025.
 */
const headerNames: readonly { session: string; thread?: string; isForPeople?: true }[] = [
  { session: 'x-sluice-session', thread: 'x-sluice-thread', isForPeople: true },
  { session: 'x-claude-code-session-id', thread: 'x-claude-code-agent-id' },
  { session: 'x-parent-session-id', thread: 'x-session-id' },
  { session: 'x-session-id' },
  { session: 'x-session-affinity' },
  { session: 'session-id', thread: 'thread-id' },
  { session: 'session_id', thread: 'conversation_id' },
  { session: 'conversation_id' },
];

/** All of them. They say nothing about what is asked, so that they do not tell equal requests apart. */
export const sessionHeaders: readonly string[] = headerNames.flatMap(({ session, thread }) =>
  thread === undefined ? [session] : [session, thread],
);

/** The session that the headers of a request name; null if they name none. */
export function sessionInHeaders(headers: HeaderFields): ClientSession | null {
  for (const { session, thread, isForPeople = false } of headerNames) {
    const name = nameOf(headers[session]);
    if (name !== null) return { name, isForPeople, thread: thread === undefined ? null : nameOf(headers[thread]) };
  }
  return null;
}

/** The fields that name a session. */
export const sessionFields = ['conversation', 'prompt_cache_key'] as const;

type SessionField = (typeof sessionFields)[number];

/** Whether the request adds to a conversation that OpenAI stores. */
export function addsToConversation(body: RequestView<'conversation'>): boolean {
  return body.raw('conversation') !== null;
}

/** The id of the conversation stored at OpenAI that the body refers to; null if there is none. */
export function conversationIn(body: RequestView<SessionField>): string | null {
  const conversation = body.field('conversation');
  return nameOf(isObject(conversation) ? conversation.id : conversation);
}

/** The prompt cache key, which OpenAI's clients choose for each conversation. */
export function cacheKeyIn(body: RequestView<SessionField>): string | null {
  return nameOf(body.field('prompt_cache_key'));
}

function nameOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= maxLength ? value : null;
}

/** The fields that tell one conversation from another. */
export const conversationFields = [
  ...turnFields,
  'prompt_cache_key',
  'instructions',
  'systemInstruction',
  'system_instruction',
] as const;

type ConversationField = (typeof conversationFields)[number];

/** How much of a conversation and of its instructions is examined; the beginning stays the same as it grows. */
const maxBytes = 256 * 1024;
const roleName = new JsonNames(['role']);
const openingBracket = 0x5b;
const openingBrace = 0x7b;
const quote = 0x22;

/**
 * A value that stays the same for all turns of a conversation: the client's own identifier, otherwise its beginning. Null
 * for a request that belongs to none.
 */
export function conversationOf(body: RequestView<ConversationField>): string | null {
  const own = body.field('prompt_cache_key');
  return typeof own === 'string' && own !== '' ? own : openingDigest(body);
}

/** A digest of the beginning of a conversation, up to the first message of the user. Null for a request that has none. */
export function openingDigest(body: RequestView<ConversationField>): string | null {
  const turns = turnsIn(body);
  const opening = turns && (turns.bytes[0] === quote ? turns.bytes.subarray(0, maxBytes) : openingOf(turns));
  if (!opening) return null;
  const field = body.raw('instructions') ?? body.raw('systemInstruction') ?? body.raw('system_instruction');
  const instructions = field?.bytes.subarray(0, maxBytes) ?? '';
  return createHash('sha256').update(instructions).update('\n').update(opening).digest('hex');
}

/** Everything up to the first user message; without one, the first message. Null if it is not a list with any. */
function openingOf({ bytes: messages, defaultRole }: Turns): Buffer | null {
  if (messages[0] !== openingBracket) return null;
  let first: number | undefined;
  for (const { start, end } of beginningOfList(messages, maxBytes)) {
    first ??= end;
    if (messages[start] === openingBrace && isOfUser(messages.subarray(start, end), defaultRole))
      return messages.subarray(1, end);
  }
  if (messages.length > maxBytes) return messages.subarray(1, maxBytes);
  return first === undefined ? null : messages.subarray(1, first);
}

function isOfUser(message: Buffer, defaultRole: Turns['defaultRole']): boolean {
  const peek = peekJson(message, roleName);
  const role = peek.ok ? peek.fields.get('role') : undefined;
  if (peek.ok && role === undefined) return defaultRole === 'user';
  return role !== undefined && role.end - role.start < 100 && isUser(message, role);
}

function isUser(message: Buffer, role: { start: number; end: number }): boolean {
  try {
    return fieldValue(message, role) === 'user';
  } catch {
    return false;
  }
}

const comma = 0x2c;
const backslash = 0x5c;
const openers = new Set<number | undefined>([0x5b, 0x7b]);
const closers = new Set<number | undefined>([0x5d, 0x7d]);

/** Ranges of the list elements that end within the first `maxBytes`. `list`: valid JSON from `[` to `]`. */
function* beginningOfList(list: Buffer, maxBytes: number): Generator<ByteRange, void, undefined> {
  const limit = Math.min(list.length, maxBytes);
  let depth = 0;
  let start = skipSpace(list, 1);
  for (let at = start; at < limit; at++) {
    const byte = list[at];
    if (byte === quote) at = endOfString(list, at + 1, limit);
    else if (openers.has(byte)) depth++;
    else if (closers.has(byte)) depth--;
    if (depth === -1 && at > start) yield { start, end: at };
    if (depth === -1) return;
    if (depth > 0 || byte !== comma) continue;
    yield { start, end: at };
    start = skipSpace(list, at + 1);
  }
}

/** Offset of its closing quote. */
function endOfString(list: Buffer, from: number, limit: number): number {
  let at = from;
  while (at < limit && list[at] !== quote) at += list[at] === backslash ? 2 : 1;
  return at;
}
