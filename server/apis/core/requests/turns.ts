/** Where a request has its conversation, and whose a message of it is. Pure. */
import type { RawField, RequestView } from '../wire.ts';

/** Of the APIs of OpenAI and Anthropic, of OpenAI's Responses, of Gemini. */
export const turnFields = ['messages', 'input', 'contents'] as const;

export type TurnField = (typeof turnFields)[number];

export interface Turns extends RawField {
  /** Whose a message is that does not say so; null if each has to. */
  defaultRole: 'user' | null;
}

/** The messages of a conversation, or a text in their place; null if the request has neither. */
export function turnsIn(body: RequestView<TurnField>): Turns | null {
  const messages = body.raw('messages') ?? body.raw('input');
  if (messages) return { ...messages, defaultRole: null };
  const contents = body.raw('contents');
  // Google, "Content": the role is optional, and the user's by default.
  return contents && { ...contents, defaultRole: 'user' };
}

/** What a request of Responses adds to its conversation. */
export function inputOf(body: RequestView<'input'>): RawField | null {
  return body.raw('input');
}
