/**
 * Reads the conversation of a request from its body and its answer. Also accepts what the engine would refuse, such as
 * a body that is truncated or has a field of the wrong type, because such requests are the ones that people inspect.
 * Pure.
 */
import { isObject } from '../is-object.ts';
import type { ShownCall, ShownConversation, ShownMessage, ShownPart, ShownTool } from './conversation.ts';
import { type Json, objectOf, objectsOf, textOf } from './json-values.ts';
import { readCandidates, readContents } from './read-contents.ts';
import { readInput, readOutput } from './read-items.ts';
import { inputMessage, readAnthropicAnswer, readChoices, readMessages } from './read-messages.ts';
import { mediaOfData, mediaOfUrl, textPart } from './read-part.ts';

/**
 * Null if neither contains messages.
 * @param request the body as JSON; null if it was not kept or is not JSON
 * @param answer the whole answer, assembled if it was a stream; null as above
 */
export function readConversation(request: unknown, answer: unknown): ShownConversation | null {
  const messages = [...readRequest(request), ...readAnswer(answer)];
  if (messages.every(({ parts }) => parts.length === 0)) return null;
  return { messages: withPairedCalls(messages), tools: readTools(objectOf(request).tools) };
}

/** The request's messages in order, with tool results where they were sent. Empty if there are none. */
export function readRequest(request: unknown): ShownMessage[] {
  if (!isObject(request)) return [];
  if (Array.isArray(request.messages)) return readMessages(request);
  if (Array.isArray(request.contents)) return readContents(request);
  if (request.input !== undefined) return readInput(request);
  // Images, videos and legacy completions.
  return typeof request.prompt === 'string' ? [inputMessage('user', textPart('text', request.prompt))] : [];
}

function readAnswer(answer: unknown): ShownMessage[] {
  if (!isObject(answer)) return [];
  if (Array.isArray(answer.choices)) return readChoices(answer);
  if (Array.isArray(answer.output)) return readOutput(answer);
  if (Array.isArray(answer.candidates)) return readCandidates(answer);
  if (answer.type === 'message') return readAnthropicAnswer(answer);
  const parts = [...objectsOf(answer.data).flatMap(readPicture), ...textPart('text', answer.text)];
  return parts.length > 0 ? [{ ...inputMessage('assistant', parts), isAnswer: true }] : [];
}

/** One image of the Images API. */
function readPicture(image: Json): ShownPart[] {
  if (typeof image.b64_json === 'string') return [mediaOfData('image/png', image.b64_json)];
  return typeof image.url === 'string' ? [mediaOfUrl('image', image.url)] : [];
}

function readTools(tools: unknown): ShownTool[] {
  return objectsOf(tools).flatMap((tool) => {
    const declared = objectsOf(tool.functionDeclarations ?? tool.function_declarations);
    const all = declared.length > 0 ? declared : [isObject(tool.function) ? tool.function : tool];
    return all.map(({ name, type, description }) => ({
      name: textOf(name) || textOf(type),
      description: textOf(description),
    }));
  });
}

/** Moves each result into its call. A call gets only the first result after it. */
function withPairedCalls(messages: readonly ShownMessage[]): ShownMessage[] {
  const waiting = new Map<string, ShownCall[]>();
  return messages.flatMap((message) => {
    const parts = message.parts.flatMap((part): ShownPart[] => {
      if (part.kind === 'call') waiting.set(part.id, [...(waiting.get(part.id) ?? []), part]);
      if (part.kind !== 'result') return [part];
      const call = waiting.get(part.callId)?.shift();
      if (!call) return [part];
      call.result = { parts: part.parts, isError: part.isError };
      return [];
    });
    return parts.length > 0 || message.isAnswer ? [{ ...message, parts }] : [];
  });
}
