/** Assembles the events of a stream into the whole answer of the same API. Pure. */
import { isObject } from '../../../../server/contract/is-object.ts';
import { assembleChat } from './assemble-chat.ts';
import { assembleGemini } from './assemble-gemini.ts';
import { assembleMessage } from './assemble-message.ts';
import { assembleResponse } from './assemble-response.ts';
import type { Json } from './json-values.ts';
import type { CapturedEvent } from './stream-events.ts';

export interface AssembledStream {
  /** As the API answers a request without `stream`. */
  answer: Json;
  /** What the stream says about its failure, if it does. */
  error: unknown;
  /** The stream came to the end that its API defines. */
  isComplete: boolean;
}

/** Null for a stream of another kind, such as of images or transcripts. Which API it is, its events tell. */
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

/** Gemini streams without `alt=sse` as one list of chunks. Any other answer stays as it is. */
export function assembleChunkList(answer: unknown): unknown {
  const chunks = Array.isArray(answer) ? answer.filter(isObject) : [];
  return chunks.some((chunk) => Array.isArray(chunk.candidates)) ? assembleGemini(chunks).answer : answer;
}
