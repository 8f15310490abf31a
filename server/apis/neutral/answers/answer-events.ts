/** Turns a whole answer into the events of a stream. */
import type { Answer, AnswerEvent, AnswerPart } from '../neutral-answer.ts';

export function answerEvents({ id, parts, stop, usage, error }: Answer): AnswerEvent[] {
  if (error) return [{ type: 'error', error }];
  return [
    { type: 'start', id },
    ...parts.flatMap(answerPartEvents),
    { type: 'stop', stop },
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'end' },
  ];
}

/** `index`: the position among the answer's calls, if the part is a call. */
export function answerPartEvents(part: AnswerPart, index: number): AnswerEvent[] {
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
