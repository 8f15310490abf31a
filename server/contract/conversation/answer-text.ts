/** The text of an answer. Pure. */

import { type BodyContent, jsonValueOf } from './body-content.ts';
import type { ShownPart } from './conversation.ts';
import { readConversation } from './read-conversation.ts';

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
