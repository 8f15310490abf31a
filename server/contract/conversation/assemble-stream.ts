/** Assembles the events of a stream into the complete answer of the same API. Pure. */

import { isObject } from '../is-object.ts';
import { assembleChat } from './assemble-chat.ts';
import { assembleGemini } from './assemble-gemini.ts';
import { assembleMessage } from './assemble-message.ts';
import { assembleResponse } from './assemble-response.ts';
import type { Json } from './json-values.ts';
import type { CapturedEvent } from './stream-events.ts';

export interface AssembledStream {
  /** As the API answers without `stream`. */
  answer: Json;
  /** The error reported in the stream, if any. */
  error: unknown;
  /** The stream reached the end defined by its API. */
  isComplete: boolean;
}

/** Null for streams of other kinds, such as images or transcripts. The API is recognised by the events. */
export function assembleStream(events: readonly CapturedEvent[]): AssembledStream | null {
  const values = events.flatMap(({ value }) => (isObject(value) ? [value] : []));
  const failed = values.find((value) => value.error !== undefined && value.error !== null);
  const assembled = assembleValues(values, events.at(-1)?.data === '[DONE]');
  return assembled && { error: failed?.error ?? null, ...assembled };
}

function assembleValues(values: readonly Json[], hasDone: boolean): Omit<AssembledStream, 'error'> | null {
  const isType = (start: string) => (value: Json) => typeof value.type === 'string' && value.type.startsWith(start);
  if (values.some(isType('response.'))) return assembleResponse(values);
  if (values.some(isType('message_start')) || values.some(isType('content_block_'))) return assembleMessage(values);
  if (values.some((value) => Array.isArray(value.choices))) return assembleChat(values, hasDone);
  return values.some((value) => Array.isArray(value.candidates)) ? assembleGemini(values) : null;
}

/** Without `alt=sse`, Gemini streams a single list of chunks. Any other answer is returned unchanged. */
export function assembleChunkList(answer: unknown): unknown {
  const chunks = Array.isArray(answer) ? answer.filter(isObject) : [];
  return chunks.some((chunk) => Array.isArray(chunk.candidates)) ? assembleGemini(chunks).answer : answer;
}
