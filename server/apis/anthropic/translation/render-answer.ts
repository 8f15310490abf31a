/** Renders a whole answer of Anthropic's API. */
import type { AnswerContext } from '../../neutral/answers/answer-context.ts';
import { RawJson } from '../../neutral/json-text.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type { Answer, AnswerPart } from '../../neutral/neutral-answer.ts';
import { envelopeOfNothing, wrapSeal } from '../../neutral/requests/carried-reasoning.ts';
import { renderStop, renderUsage } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

export function renderMessagesAnswer(answer: Answer, context: AnswerContext): Json {
  return {
    id: messageId(answer.id),
    type: 'message',
    role: 'assistant',
    model: context.conversation.model,
    content: answer.parts.flatMap(renderPart),
    ...renderStop(answer.stop),
    usage: renderUsage(answer.usage, context),
  };
}

/** Anthropic's clients expect ids that begin with `msg_`. */
export function messageId(id: string): string {
  return id.startsWith('msg_') ? id : `msg_${id}`;
}

function renderPart(part: AnswerPart): Json[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'thinking':
      if (part.seal?.kind === 'redacted') return [{ type: 'redacted_thinking', data: wrapSeal(part.seal) }];
      return [
        { type: 'thinking', thinking: part.text, signature: part.seal ? wrapSeal(part.seal) : envelopeOfNothing },
      ];
    case 'call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: new RawJson(part.arguments) }];
    case 'media':
      return [{ type: 'text', text: pictureAsText(part) }];
    case 'foreign':
      return [];
  }
}
