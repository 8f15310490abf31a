import type { ShownMedia, ShownPart } from '../../../server/contract/conversation/conversation.ts';
import { readConversation } from '../../../server/contract/conversation/read-conversation.ts';

/** The images, sounds and videos in a body, including those in tool results. Pure. */
export function mediaOf(body: unknown): ShownMedia[] {
  const media: ShownMedia[] = [];
  const visit = (parts: readonly ShownPart[]) => {
    for (const part of parts) {
      if (part.kind === 'media' && part.medium !== 'file' && part.url?.startsWith('data:')) media.push(part);
      if (part.kind === 'result') visit(part.parts);
      if (part.kind === 'call' && part.result) visit(part.result.parts);
    }
  };
  // The body may be a request or an answer, so both are tried.
  for (const conversation of [readConversation(body, null), readConversation(null, body)])
    for (const message of conversation?.messages ?? []) visit(message.parts);
  return media;
}
