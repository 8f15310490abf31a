/** Detects streams that begin successfully but fail or break off. Pure. */
import { createDataLineReader } from './data-lines.ts';
import { at, textAt } from './json-path.ts';

/** `told`: an event reported an error. `cut`: the stream ended without its final event. */
export type StreamFault = { kind: 'told'; message: string } | { kind: 'cut' };

interface StreamWatch {
  push(chunk: string): void;
  /** To be called at the end; null if the stream was complete. */
  fault(): StreamFault | null;
}

const lastEvents = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** For streams of Chat Completions, legacy completions and Responses. */
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

/**
 * The error in an event: `{"error": …}`, `type: "error"` or `response.failed`. Null if there is none; empty if it has
 * no text.
 */
function errorIn(event: unknown): string | null {
  const type = textAt(event, 'type');
  const error = at(event, 'error') ?? at(event, 'response', 'error') ?? null;
  if (typeof error === 'string') return error;
  if (error !== null) return textAt(error, 'message') ?? textAt(error, 'code') ?? '';
  if (type === 'error') return textAt(event, 'message') ?? '';
  return type === 'response.failed' ? '' : null;
}

/** The error in a reply that is only an error, despite a success status. */
export function errorOfWhole(reply: unknown): string | null {
  // A job object contains its own failure, but is a valid reply.
  if (at(reply, 'id') !== undefined) return null;
  return errorIn(reply);
}
