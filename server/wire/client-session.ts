import { isObject } from '../contract/is-object.ts';
import type { HeaderFields } from './headers.ts';
import type { RequestView } from './wire.ts';

/** The client's own name of a session. */
export interface ClientSession {
  name: string;
  /** It was named for people to read. */
  isForPeople: boolean;
  /** The client's name of one conversation within it; null: it names none. */
  thread: string | null;
}

/** Longer values are no names. */
const maxLength = 512;

/**
 * Headers that name a session, and those that name a conversation within it. The names were taken from what the programs send:
 * Claude Code 2.1.197 (`x-claude-code-agent-id` is a subagent's), opencode 1.18 (a subagent has a session of its own and names its
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

/** The session that the headers of a request name; null if they name none. */
export function sessionInHeaders(headers: HeaderFields): ClientSession | null {
  for (const { session, thread, isForPeople = false } of headerNames) {
    const name = nameOf(headers[session]);
    if (name !== null) return { name, isForPeople, thread: thread === undefined ? null : nameOf(headers[thread]) };
  }
  return null;
}

/** The conversation that the body names and OpenAI stores. */
export function conversationIn(body: RequestView): string | null {
  const conversation = body.field('conversation');
  return nameOf(isObject(conversation) ? conversation.id : conversation);
}

/** The key under which the client wants prompts to be cached, by which OpenAI's clients tell conversations apart. */
export function cacheKeyIn(body: RequestView): string | null {
  return nameOf(body.field('prompt_cache_key'));
}

function nameOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= maxLength ? value : null;
}
