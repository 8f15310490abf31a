import type { ShownMedia, ShownPart } from './conversation.ts';
import { readConversation } from './read-conversation.ts';

/** The pictures, sounds and videos that a body holds, tool results included. Pure. */
export function mediaOf(body: unknown): ShownMedia[] {
  const found: ShownMedia[] = [];
  const look = (parts: readonly ShownPart[]) => {
    for (const part of parts) {
      if (part.kind === 'media' && part.medium !== 'file' && part.url?.startsWith('data:')) found.push(part);
      if (part.kind === 'result') look(part.parts);
      if (part.kind === 'call' && part.result) look(part.result.parts);
    }
  };
  // A body is a request or an answer; it is not told which.
  for (const shown of [readConversation(body, null), readConversation(null, body)])
    for (const message of shown?.messages ?? []) look(message.parts);
  return found;
}
