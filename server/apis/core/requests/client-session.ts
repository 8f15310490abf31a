import { isObject } from '../../../contract/is-object.ts';
import type { HeaderFields } from '../headers.ts';
import type { RequestView } from '../wire.ts';

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
