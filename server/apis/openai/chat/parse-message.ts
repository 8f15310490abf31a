/** The parts of a chat's message, whole or in deltas. */
import { isObject } from '../../../contract/is-object.ts';
import { entryOf } from '../../core/table-entry.ts';
import type { MediaPart, Seal } from '../../neutral/conversation.ts';
import { parseLosslessJson, writeJson } from '../../neutral/json-text.ts';
import { sourceOfUrl } from '../../neutral/media.ts';
import { promptTokens, type StopReason, type TokenUsage } from '../../neutral/neutral-answer.ts';

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

/**
 * Members of a chat's messages that only their provider understands, and which it wants back unchanged: OpenRouter's
 * `reasoning_details` ("Gemini models require OpenRouter reasoning details to be preserved in each request", 400), and
 * `extra_content` with the signatures of Google's and Vertex AI's OpenAI-compatible endpoints. Sources: OpenRouter,
 * "Reasoning tokens"; Google, "Thought signatures".
 *
 * Collects them from a stream, where each detail comes in fragments.
 */
export class ProviderMembers {
  #details: Json[] = [];
  #extra: Json | undefined;

  get isEmpty(): boolean {
    return this.#details.length === 0 && this.#extra === undefined;
  }

  /** Returns whether there was anything. */
  add({ reasoning_details: details, extra_content: extra }: Json): boolean {
    const fragments = objectsIn(details);
    addFragments(this.#details, fragments);
    if (isSigned(extra)) this.#extra = extra;
    return fragments.length > 0 || isSigned(extra);
  }

  /**
   * The seal of those that have come since the last call.
   * @param answer the answer's id, by which fragments of one detail in several seals are recognised
   */
  take(answer: string): Seal {
    const members: Json = answer === '' ? {} : { answer };
    if (this.#details.length > 0) members.reasoning_details = this.#details;
    if (this.#extra) members.extra_content = this.#extra;
    this.#details = [];
    this.#extra = undefined;
    return sealOf(members);
  }
}

/** Google and Vertex AI put it beside each call. */
export function sealOfCall({ extra_content: extra }: Json): Seal | undefined {
  return isSigned(extra) ? sealOf({ extra_content: extra }) : undefined;
}

function isSigned(extra: unknown): extra is Json {
  const vendors = isObject(extra) ? Object.values(extra) : [];
  return vendors.some((vendor) => isObject(vendor) && typeof vendor.thought_signature === 'string');
}

/** What is sealed can only be read by the account that made it. Within a text, quotes are escaped. */
function sealOf(members: Json): Seal {
  const data = writeJson(members);
  const isSealed = ['"signature":"', '"data":"', '"thought_signature":"'].some((name) => data.includes(name));
  return { kind: isSealed ? 'members' : 'plain', data };
}

/** The members of a message or a call for which these seals stand. */
export function membersOf(seals: readonly Seal[]): Json {
  const details: Json[] = [];
  let extra: Json | undefined;
  let answer: unknown;
  /** The details of the same answer. */
  let fellows: Json[] = [];
  for (const { data } of seals) {
    const value = data === '' ? null : parseLosslessJson(data);
    if (!isObject(value)) continue;
    if (value.answer !== answer) {
      details.push(...fellows);
      fellows = [];
      ({ answer } = value);
    }
    addFragments(fellows, objectsIn(value.reasoning_details));
    if (isSigned(value.extra_content)) extra = value.extra_content;
  }
  details.push(...fellows);
  return {
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

/** More than a service writes at the same time. */
const maxOpenDetails = 64;

/** Adds those that came together: each of them belongs to another detail. */
function addFragments(details: Json[], fragments: readonly Json[]): void {
  const earlier = details.slice(-maxOpenDetails);
  for (const fragment of fragments) {
    const detail = earlier.findLast((each) => isMoreOf(each, fragment, each === earlier.at(-1)));
    if (detail === undefined) details.push({ ...fragment });
    else addFragment(detail, fragment);
  }
}

/** Texts and their signature may be divided; the other members come with any of the fragments. */
function addFragment(detail: Json, fragment: Json): void {
  for (const [name, value] of Object.entries(fragment)) {
    if (value === null || value === undefined) continue;
    const before = detail[name];
    const isDivided = name === 'text' || name === 'summary' || name === 'signature';
    const isMore = isDivided && typeof before === 'string' && typeof value === 'string';
    const isRepeated = name === 'signature' && before === value;
    detail[name] = isMore && !isRepeated ? before + value : value;
  }
}

/** Fragments have the index of their detail; where a service sends none, they continue the last one. */
function isMoreOf(detail: Json, fragment: Json, isLast: boolean): boolean {
  const isNumbered = typeof fragment.index === 'number';
  if (detail.type !== fragment.type || detail.index !== fragment.index || !(isNumbered || isLast)) return false;
  if (said(detail.id) && said(fragment.id) && detail.id !== fragment.id) return false;
  // Encrypted data comes as a whole, and nothing is added to a text that is signed.
  if (said(fragment.data)) return !said(detail.data) || detail.data === fragment.data;
  return !said(detail.signature) || !(said(fragment.text) || said(fragment.summary));
}

function said(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/**
 * OpenAI's, and words of services for the same: `model_length` of Mistral; `sensitive` and `model_context_window_exceeded` of
 * Zhipu; those of Anthropic and Google from gateways that pass them on.
 */
const reasons: Record<string, StopReason> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tool',
  function_call: 'tool',
  content_filter: 'filter',
  model_length: 'window',
  model_context_window_exceeded: 'window',
  max_tokens: 'length',
  MAX_TOKENS: 'length',
  sensitive: 'filter',
  refusal: 'filter',
  SAFETY: 'filter',
};

/** Mistral and OpenRouter; Zhipu; DeepSeek. What came so far is no whole answer. */
const failures = new Set<unknown>(['error', 'network_error', 'insufficient_system_resource']);

/** Finish reasons and usage of chat completions, in both directions. */
export function isFailure(reason: unknown): boolean {
  return failures.has(reason);
}

/** An unknown reason counts as a normal end. */
export function parseFinishReason(reason: unknown): StopReason {
  return entryOf(reasons, reason) ?? 'end';
}

const names: Record<StopReason, string> = {
  end: 'stop',
  sequence: 'stop',
  tool: 'tool_calls',
  length: 'length',
  window: 'length',
  pause: 'stop',
  filter: 'content_filter',
  malformed: 'stop',
};

export function renderFinishReason(reason: StopReason): string {
  return names[reason];
}

export function renderChatUsage(usage: TokenUsage): Json {
  const { cacheRead, cacheWrite, output, reasoning } = usage;
  const prompt = promptTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: output + reasoning,
    total_tokens: prompt + output + reasoning,
    prompt_tokens_details: { cached_tokens: cacheRead, ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}) },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
