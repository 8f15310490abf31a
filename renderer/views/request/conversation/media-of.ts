import type { ShownMedia, ShownPart } from './conversation.ts';
import { readConversation } from './read-conversation.ts';

/** The images, sounds and videos in a body, including those in tool results. Pure. */
export function mediaOf(body: unknown): ShownMedia[] {
  const found: ShownMedia[] = [];
  const look = (parts: readonly ShownPart[]) => {
    for (const part of parts) {
      if (part.kind === 'media' && part.medium !== 'file' && part.url?.startsWith('data:')) found.push(part);
      if (part.kind === 'result') look(part.parts);
      if (part.kind === 'call' && part.result) look(part.result.parts);
    }
  };
  // The body may be a request or an answer, so both are tried.
  for (const shown of [readConversation(body, null), readConversation(null, body)])
    for (const message of shown?.messages ?? []) look(message.parts);
  return found;
}
