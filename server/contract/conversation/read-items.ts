/** Reads the input and output items of OpenAI's Responses API. */

import type { ShownMessage, ShownPart } from './conversation.ts';
import { type Json, objectsOf, textOf } from './json-values.ts';
import { inputMessage } from './read-messages.ts';
import { callOf, mediaOfData, otherOf, readContent, resultOf, thoughtsOf } from './read-part.ts';

export function readInput(request: Json): ShownMessage[] {
  const instructions = readContent(request.instructions);
  const items = typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : request.input;
  return [
    ...(instructions.length > 0 ? [inputMessage('system', instructions)] : []),
    ...objectsOf(items).map((item) => inputMessage(roleOf(item), readItem(item))),
  ];
}

/** Combines the items of a response into one message. */
export function readOutput(answer: Json): ShownMessage[] {
  const parts = objectsOf(answer.output).flatMap(readItem);
  const stop = textOf(answer.status) || null;
  return [{ role: 'assistant', isAnswer: true, parts, stop }];
}

function roleOf(item: Json): ShownMessage['role'] {
  const type = textOf(item.type);
  if (type.endsWith('_output')) return 'tool';
  if (type !== '' && type !== 'message') return 'assistant';
  if (item.role === 'system' || item.role === 'developer') return 'system';
  return item.role === 'assistant' ? 'assistant' : 'user';
}

function readItem(item: Json): ShownPart[] {
  const type = textOf(item.type) || 'message';
  if (type === 'message') return readContent(item.content);
  if (type === 'reasoning') return thoughtsOf(item);
  const id = textOf(item.call_id) || textOf(item.id);
  if (type.endsWith('_output')) return [resultOf(id, item.output, false)];
  if (type === 'image_generation_call' && typeof item.result === 'string')
    return [mediaOfData(`image/${textOf(item.output_format) || 'png'}`, item.result)];
  if (!type.endsWith('_call')) return [otherOf(type, item)];
  const name = textOf(item.name) || type.slice(0, -'_call'.length);
  return [callOf(id, name, item.arguments ?? item.input ?? item.action ?? item.operation)];
}
