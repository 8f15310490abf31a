/** Reads requests and answers of OpenAI's Chat API and Anthropic's Messages API. */

import type { ShownMessage, ShownPart } from './conversation.ts';
import { type Json, objectOf, objectsOf, textOf } from './json-values.ts';
import { callOf, mediaOfData, mediaOfUrl, otherOf, readContent, resultOf, textPart } from './read-part.ts';

export function readMessages(request: Json): ShownMessage[] {
  const system = readContent(request.system);
  return [
    ...(system.length > 0 ? [inputMessage('system', system)] : []),
    ...objectsOf(request.messages).map((message) => inputMessage(roleOf(message), readMessage(message))),
  ];
}

/** The choices of a chat completion or legacy completion. */
export function readChoices(answer: Json): ShownMessage[] {
  return objectsOf(answer.choices).map((choice) => ({
    role: 'assistant',
    isAnswer: true,
    parts: choice.message === undefined ? textPart('text', choice.text) : readMessage(objectOf(choice.message)),
    stop: textOf(choice.finish_reason) || null,
  }));
}

/** A message of Anthropic's API. */
export function readAnthropicAnswer(answer: Json): ShownMessage[] {
  const stop = textOf(answer.stop_reason) || null;
  return [{ role: 'assistant', isAnswer: true, parts: readContent(answer.content), stop }];
}

export function inputMessage(role: ShownMessage['role'], parts: ShownPart[]): ShownMessage {
  return { role, isAnswer: false, parts, stop: null };
}

function roleOf({ role }: Json): ShownMessage['role'] {
  if (role === 'assistant') return 'assistant';
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'tool' || role === 'function' ? 'tool' : 'user';
}

function readMessage(message: Json): ShownPart[] {
  if (message.role === 'tool' || message.role === 'function')
    return [resultOf(textOf(message.tool_call_id) || textOf(message.name), message.content, false)];
  const calls = objectsOf(message.tool_calls).map((call) => readCall(call));
  const old = objectOf(message.function_call);
  return [
    ...textPart('thinking', message.reasoning_content ?? message.reasoning),
    ...readContent(message.content),
    ...textPart('refusal', message.refusal),
    ...objectsOf(message.images).map(({ image_url: url }) => mediaOfUrl('image', textOf(objectOf(url).url))),
    ...readSpoken(objectOf(message.audio)),
    ...calls,
    ...(old.name === undefined ? [] : [callOf(textOf(old.name), textOf(old.name), old.arguments)]),
  ];
}

function readCall(call: Json): ShownPart {
  const custom = objectOf(call.custom);
  const calledFunction = objectOf(call.function);
  if (call.custom !== undefined) return callOf(textOf(call.id), textOf(custom.name), custom.input);
  if (call.function === undefined) return otherOf(textOf(call.type), call);
  return callOf(textOf(call.id), textOf(calledFunction.name), calledFunction.arguments);
}

/** The model's speech. Its format is only in the request, but players detect it themselves. */
function readSpoken(audio: Json): ShownPart[] {
  const sound = textOf(audio.data) === '' ? [] : [mediaOfData('audio/wav', textOf(audio.data))];
  return [...sound, ...textPart('text', audio.transcript)];
}
