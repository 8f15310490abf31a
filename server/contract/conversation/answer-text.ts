/** The text of an answer, for comparison. Pure. */

import type { ShownPart } from '../../../../server/contract/conversation/conversation.ts';
import { readConversation } from '../../../../server/contract/conversation/read-conversation.ts';
import { type BodyContent, jsonValueOf } from '../../../state/captured/body/body-content.ts';

/** Null if there is no text to compare, as for audio. */
export function answerTextOf(content: BodyContent | null): string | null {
  const conversation = readConversation(null, jsonValueOf(content));
  if (conversation) return conversation.messages.flatMap(({ parts }) => parts.map(textOfPart)).join('\n\n');
  return content && 'text' in content ? content.text : null;
}

function textOfPart(part: ShownPart): string {
  switch (part.kind) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return part.text;
    case 'call':
      return `${part.name}(${part.input})`;
    case 'media':
      return `[${part.medium} ${part.name}]`;
    case 'result':
      return part.parts.map(textOfPart).join('\n');
    case 'other':
      return part.json;
  }
}
