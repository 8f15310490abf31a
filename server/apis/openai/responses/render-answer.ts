/** Renders a whole response. */
import type { AnswerContext } from '../../neutral/answers/answer-context.ts';
import { TextParts } from '../../neutral/answers/text-parts.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type { Answer } from '../../neutral/neutral-answer.ts';
import {
  annotate,
  type CitedText,
  callItem,
  callItemKind,
  itemId,
  messageItem,
  reasoningItem,
  refusalPart,
  responseObject,
  textPart,
} from './items.ts';
import { renderResponseUsage, renderStatus } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

export function renderResponsesAnswer(answer: Answer, context: AnswerContext): Json {
  const id = context.identity?.id ?? answer.id;
  const output: Json[] = [];
  /** Content of the current message; adjacent texts form one message. */
  let content: Json[] | null = null;
  const texts = new TextParts<CitedText>();
  for (const part of answer.parts) {
    const index = output.length;
    if (part.type === 'text' || part.type === 'refusal' || part.type === 'media') {
      if (content === null) {
        content = [];
        output.push(messageItem(itemId('msg', id, index), content));
      }
      if (part.type === 'refusal') content.push(refusalPart(part.text));
      else {
        const text = part.type === 'text' ? part.text : pictureAsText(part);
        const cited: CitedText = { position: {}, annotations: [] };
        content.push(textPart(text, cited.annotations));
        texts.begin(cited);
        texts.add(text.length);
      }
      continue;
    }
    content = null;
    if (part.type === 'thinking') output.push(reasoningItem(itemId('rs', id, index), part.text, part.seal));
    else if (part.type === 'call') {
      output.push(callItem(itemId(callItemKind(part), id, index), part, part.arguments));
    }
  }
  for (const citation of answer.citations ?? []) {
    if (annotate(texts, citation) === null) context.losses.dropped('citations', 'provider-item');
  }
  const { status } = renderStatus(answer.stop);
  // The rest of the last message is what an incomplete response lacks.
  const last = output.at(-1);
  if (last?.type === 'message') last.status = status;
  const usage = answer.usage && renderResponseUsage(answer.usage);
  return responseObject(id, context, { ...renderStatus(answer.stop), output, usage });
}
