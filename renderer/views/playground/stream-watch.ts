/** Whether a stream that began well also ended well. Pure. */
import { createDataLineReader } from './data-lines.ts';
import { at, textAt } from './json-path.ts';

/** `told`: the error stands in an event. `cut`: it ended before it said that it was over. */
export type StreamFault = { kind: 'told'; message: string } | { kind: 'cut' };

export interface StreamWatch {
  push(piece: string): void;
  /** To be asked at the end; null: it is whole. */
  fault(): StreamFault | null;
}

const lastEvents = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** For the streams of chat, completions and Responses. */
export function createStreamWatch(): StreamWatch {
  let error: string | null = null;
  let isOver = false;
  const push = createDataLineReader(
    (event) => {
      error ??= errorIn(event);
      isOver ||= lastEvents.has(textAt(event, 'type') ?? '') || textAt(event, 'choices', 0, 'finish_reason') !== null;
    },
    () => {
      isOver = true;
    },
  );
  return {
    push,
    fault() {
      if (error !== null) return { kind: 'told', message: error };
      return isOver ? null : { kind: 'cut' };
    },
  };
}

/** The error that an event tells: `{"error": …}`, `type: "error"` or `response.failed`. Null: none; empty: one without words. */
function errorIn(event: unknown): string | null {
  const type = textAt(event, 'type');
  const error = at(event, 'error') ?? at(event, 'response', 'error') ?? null;
  if (typeof error === 'string') return error;
  if (error !== null) return textAt(error, 'message') ?? textAt(error, 'code') ?? '';
  if (type === 'error') return textAt(event, 'message') ?? '';
  return type === 'response.failed' ? '' : null;
}

/** The error of a whole reply that is nothing but an error, in spite of its status. */
export function errorOfWhole(reply: unknown): string | null {
  // The object of a job tells its own failure, and is a reply.
  if (at(reply, 'id') !== undefined) return null;
  return errorIn(reply);
}
