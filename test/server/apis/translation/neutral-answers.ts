/** Answers in the neutral form, for tests: as a whole and as events. */
import { AnswerFold, eventsOfWhole } from '../../../../server/apis/neutral/answers/answer-fold.ts';
import type { UpstreamTranslation } from '../../../../server/apis/neutral/answers/wire-translation.ts';
import type { Answer, AnswerEvent, AnswerPart } from '../../../../server/apis/neutral/neutral-answer.ts';

export function answerEvents({ id, parts, stop, usage }: Answer): AnswerEvent[] {
  return [
    { type: 'start', id },
    ...parts.flatMap(answerPartEvents),
    { type: 'stop', stop },
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'end' },
  ];
}

/** `index`: the position among the answer's calls, if the part is a call. */
function answerPartEvents(part: AnswerPart, index: number): AnswerEvent[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: part.type, text: part.text }];
    case 'thinking': {
      const thought: AnswerEvent[] = part.text === '' ? [] : [{ type: 'thinking', text: part.text }];
      return part.seal ? [...thought, { type: 'seal', seal: part.seal }] : thought;
    }
    case 'call': {
      const { id, name, namespace, kind, seal, arguments: text } = part;
      return [
        { type: 'call', index, id, name, namespace, kind, seal },
        ...(text === '' ? [] : [{ type: 'arguments' as const, index, text }]),
        { type: 'call-end', index },
      ];
    }
    case 'media':
      return [{ type: 'media', part }];
    case 'foreign':
      return [{ type: 'foreign', name: part.name }];
  }
}

/** What a whole answer says; null if the body is none. */
export function wholeAnswer(translation: UpstreamTranslation, body: unknown): Answer | null {
  const events = eventsOfWhole(translation, body, 0);
  if (events === null) return null;
  const fold = new AnswerFold();
  for (const event of events) fold.take(event);
  return fold.answer;
}
