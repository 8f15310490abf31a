/** The parts of a chat's message, whole or in deltas. */
import { isObject } from '../../../contract/is-object.ts';
import type { MediaPart } from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { sourceOfUrl } from '../../neutral/media.ts';

type Json = Record<string, unknown>;

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

/** An object where a list belongs is a list of one. */
export function objectsIn(list: unknown): Json[] {
  if (isObject(list)) return [list];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Reasoning arrives without a seal; its envelope identifies the origin when the client sends it back. */
export const plainSeal = { kind: 'plain' as const, data: '' };

/** What was thought, as text, in DeepSeek's or OpenRouter's notation. */
export function thoughtIn({ reasoning_content: content, reasoning }: Json): string {
  const text = [content, reasoning].find((value) => typeof value === 'string' && value !== '');
  return typeof text === 'string' ? text : '';
}

/** The text of OpenRouter's details, which nearly always tell it in `reasoning` as well. */
export function thoughtInDetails({ reasoning_details: details }: Json): string {
  const texts = objectsIn(details).map((detail) => detail.text ?? detail.summary);
  return texts.filter((each) => typeof each === 'string').join('');
}

/** `images` in OpenRouter's notation, from models that generate images. */
export function picturesOf(images: unknown): MediaPart[] {
  return objectsIn(images).flatMap((image): MediaPart[] => {
    const url = isObject(image.image_url) ? image.image_url.url : undefined;
    if (typeof url !== 'string') return [];
    return [{ type: 'media', kind: 'image', source: sourceOfUrl(url), at: '' }];
  });
}

/**
 * What a call or a fragment of one calls. Services may send both members, one of them without a name: Snowflake's
 * `"custom":{"name":"","input":""}` beside `function`. The name decides, then the type, then what is said. Without either
 * member, the call may be told flatly, as in OpenAI's Responses.
 */
export function calledIn(call: Json): { isCustom: boolean; called: Json } {
  const { type, custom, function: calledFunction } = call;
  if (!isObject(custom) && !isObject(calledFunction)) return { isCustom: type === 'custom', called: call };
  if (!isObject(custom)) return { isCustom: false, called: isObject(calledFunction) ? calledFunction : {} };
  if (!isObject(calledFunction)) return { isCustom: true, called: custom };
  const [hasCustomName, hasFunctionName] = [custom, calledFunction].map(({ name }) => isText(name));
  const isTyped = type === 'custom' || (type !== 'function' && !hasSaid(calledFunction) && hasSaid(custom));
  const isCustom = hasCustomName === hasFunctionName ? isTyped : hasCustomName === true;
  return { isCustom, called: isCustom ? custom : calledFunction };
}

/** Not `"function_call":{"name":"","arguments":""}`, which Snowflake sends beside text. */
export function hasSaid(called: unknown): boolean {
  return (
    isObject(called) && [called.name, called.arguments, called.input].some((said) => said !== undefined && said !== '')
  );
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Older versions of Ollama send an object. */
export function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : writeJson(value);
}
