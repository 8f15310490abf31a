/** Where the newest turn of a conversation begins. Pure. */
import type { ShownMessage } from '../../../state/captured/conversation.ts';

/**
 * The index of the first message that the client added to what it had sent before: the one after the last answer that it
 * sends back. Null if it sends none back, or has added only results, which stand beside their calls.
 */
export function firstNewOf(messages: readonly Pick<ShownMessage, 'role' | 'isAnswer'>[]): number | null {
  const lastAnswered = messages.findLastIndex(({ role, isAnswer }) => role === 'assistant' && !isAnswer);
  const first = lastAnswered + 1;
  return lastAnswered === -1 || messages[first] === undefined || messages[first].isAnswer ? null : first;
}
