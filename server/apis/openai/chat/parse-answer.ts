/** Parses a whole chat completion. */
import { isObject } from '../../../contract/is-object.ts';
import { usageOf } from '../../neutral/answers/token-usage.ts';
import type { CallPart, MediaPart } from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { sourceOfUrl } from '../../neutral/media.ts';
import type { Answer, AnswerPart } from '../../neutral/neutral-answer.ts';
import { derivedCallId } from '../../neutral/requests/call-ids.ts';
import { plainReports } from '../usage/usage-shapes.ts';
import { parseFinishReason } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

/** Null if the body is not a chat completion. Only the first choice is used, because only one is requested. */
export function parseChatAnswer(body: unknown, turns: number): Answer | null {
  if (!isObject(body) || !Array.isArray(body.choices)) return null;
  const choice: Json = body.choices.find(isObject) ?? {};
  const message = isObject(choice.message) ? choice.message : {};
  return {
    id: typeof body.id === 'string' ? body.id : '',
    parts: [
      ...textPart('thinking', message.reasoning_content ?? message.reasoning),
      ...saidIn(message.content).flatMap(({ type, text }) => textPart(type, text)),
      ...textPart('refusal', message.refusal),
      ...picturesOf(message.images),
      ...callsOf(message, turns),
    ],
    stop: { reason: parseFinishReason(choice.finish_reason) },
    usage: usageOf(body, plainReports),
  };
}

/**
 * The texts of a message's `content`. That of Mistral's reasoning models is a list whose `thinking` is a list of texts
 * itself. Source: Mistral docs, "Reasoning".
 */
export function saidIn(content: unknown): { type: 'text' | 'thinking'; text: string }[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return objectsIn(content).flatMap((chunk) =>
    chunk.type === 'thinking' ? [{ type: 'thinking' as const, text: textsIn(chunk.thinking) }] : saidIn(chunk.text),
  );
}

function textsIn(chunks: unknown): string {
  const texts = objectsIn(chunks).map(({ text }) => (typeof text === 'string' ? text : ''));
  return texts.join('');
}

function objectsIn(list: unknown): Json[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Reasoning arrives without a seal; its envelope identifies the origin when the client sends it back. */
function textPart(type: 'text' | 'thinking' | 'refusal', text: unknown): AnswerPart[] {
  if (typeof text !== 'string' || text === '') return [];
  return type === 'thinking' ? [{ type, text, seal: plainSeal, at: '' }] : [{ type, text, at: '' }];
}

export const plainSeal = { kind: 'plain' as const, data: '' };

/** `images` in OpenRouter's notation, from models that generate images. */
export function picturesOf(images: unknown): MediaPart[] {
  return objectsIn(images).flatMap((image): MediaPart[] => {
    const url = isObject(image.image_url) ? image.image_url.url : undefined;
    if (typeof url !== 'string') return [];
    return [{ type: 'media', kind: 'image', source: sourceOfUrl(url), at: '' }];
  });
}

function callsOf(message: Json, turns: number): CallPart[] {
  const calls = objectsIn(message.tool_calls);
  if (calls.length === 0 && isObject(message.function_call))
    return [toCall({ function: message.function_call }, 0, turns)];
  return calls.map((call, index) => toCall(call, index, turns));
}

function toCall(call: Json, index: number, turns: number): CallPart {
  const isCustom = isObject(call.custom);
  const calledFunction: Json = isObject(call.custom) ? call.custom : isObject(call.function) ? call.function : {};
  const name = String(calledFunction.name ?? '');
  const id = typeof call.id === 'string' && call.id !== '' ? call.id : derivedCallId(String(turns), index, name);
  const callArguments = argumentsOf(isCustom ? calledFunction.input : calledFunction.arguments);
  const seal = thoughtSignatureOf(call);
  return { type: 'call', id, name, arguments: callArguments, kind: isCustom ? 'custom' : 'function', seal, at: '' };
}

/** Older versions of Ollama send an object. */
export function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isObject(value) ? writeJson(value) : '';
}

/** Google's OpenAI-compatible endpoint puts it beside the call. */
export function thoughtSignatureOf(call: Json): CallPart['seal'] {
  const extra = isObject(call.extra_content) ? call.extra_content : {};
  const google = isObject(extra.google) ? extra.google : {};
  const data = google.thought_signature;
  return typeof data === 'string' ? { kind: 'thought-signature', data } : undefined;
}
