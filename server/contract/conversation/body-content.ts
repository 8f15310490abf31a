/** The type of a captured body, which determines how it is shown. Pure. */
import type { CapturedMessage } from '../capture.ts';
import { isObject } from '../is-object.ts';
import type { CapturedBody } from '../request-views.ts';
import { parseTruncatedJson } from './parse-truncated-json.ts';
import {
  type Json,
  mediumOf,
  numberOf,
  objectOf,
  objectsOf,
  readConversation,
  type ShownPart,
  textOf,
} from './read-conversation.ts';

export type BodyContent =
  | { kind: 'json'; text: string }
  | { kind: 'text'; text: string }
  /** `assembled` is null for a stream that is not a conversation. */
  | { kind: 'stream'; text: string; assembled: AssembledStream | null }
  | { kind: 'media'; medium: 'image' | 'audio' | 'video'; mediaType: string; base64: string }
  | { kind: 'binary'; mediaType: string; base64: string };

type Message = Pick<CapturedMessage<CapturedBody>, 'headers' | 'body'>;

/** Null if there is no body. */
export function contentOf({ headers, body }: Message): BodyContent | null {
  if (!body || body.data === '') return null;
  const contentType = headerOf(headers, 'content-type');
  if (body.encoding === 'base64') {
    const mediaType = contentType?.split(';')[0]?.trim() || 'application/octet-stream';
    const medium = mediumOf(mediaType);
    return medium === 'file'
      ? { kind: 'binary', mediaType, base64: body.data }
      : { kind: 'media', medium, mediaType, base64: body.data };
  }
  const text = body.data;
  if (isEventStream(text, contentType))
    return { kind: 'stream', text, assembled: assembleStream(readStreamEvents(text)) };
  return { kind: looksLikeJson(text) ? 'json' : 'text', text };
}

/** The whole answer or request as a JSON value; null if it is not JSON. */
export function jsonValueOf(content: BodyContent | null): unknown {
  if (content?.kind === 'stream') return content.assembled?.answer ?? null;
  return content?.kind === 'json' ? assembleChunkList(parseTruncatedJson(content.text)?.value ?? null) : null;
}

function headerOf(headers: Message['headers'], name: string): string | null {
  return headers?.find(([each]) => each.toLowerCase() === name)?.[1] ?? null;
}

/** Whether a text starts like a JSON object or array; it may be truncated. */
export function looksLikeJson(text: string): boolean {
  return /^[ \n\r\t]*[{[]/.test(text);
}

/**
 * The text of an answer. Pure.
 *
 * Null if there is no text to compare, as for audio.
 */
export function answerTextOf(content: BodyContent | null): string | null {
  return saidTextOf(content) ?? (content && 'text' in content ? content.text : null);
}

/** What a model said in an answer; null for other answers, such as errors. */
export function saidTextOf(content: BodyContent | null): string | null {
  const conversation = readConversation(null, jsonValueOf(content));
  return conversation?.messages.flatMap(({ parts }) => parts.map(textOfPart)).join('\n\n') ?? null;
}

function textOfPart(part: ShownPart): string {
  switch (part.kind) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return part.text;
    case 'call':
      return `${part.name}(${part.input})`;
    case 'media':
      return `[${part.medium} ${part.name}]`;
    case 'result':
      return part.parts.map(textOfPart).join('\n');
    case 'other':
      return part.json;
  }
}

// Assembles the events of a stream into the complete answer of the same API.

interface AssembledStream {
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

/** Reads the events of a captured stream. Pure. */
interface CapturedEvent {
  /** From the `event` line; empty if there is none. */
  name: string;
  data: string;
  /** The data as JSON; undefined if it is not JSON. */
  value: unknown;
}

/** Whether a response is an event stream, by its content type, or by its start if no content type was kept. */
export function isEventStream(text: string, contentType: string | null): boolean {
  if (contentType !== null) return contentType.toLowerCase().startsWith('text/event-stream');
  return /^\s*(?:data|event|id|retry|):/.test(text.slice(0, 200));
}

/** Leaves out comments and events without data. The last event may be truncated and then has no `value`. */
export function readStreamEvents(text: string): CapturedEvent[] {
  const events: CapturedEvent[] = [];
  let name = '';
  let data: string[] = [];
  const flush = () => {
    if (data.length > 0) {
      const joined = data.join('\n');
      events.push({ name, data: joined, value: parseIfJson(joined) });
    }
    name = '';
    data = [];
  };
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') flush();
    else if (line.startsWith('data:')) data.push(fieldOf(line));
    else if (line.startsWith('event:')) name = fieldOf(line);
  }
  flush();
  return events;
}

function fieldOf(line: string): string {
  const value = line.slice(line.indexOf(':') + 1);
  return value.startsWith(' ') ? value.slice(1) : value;
}

function parseIfJson(data: string): unknown {
  if (!/^\s*[{[]/.test(data)) return undefined;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** Members that are sent in pieces; which of them occur depends on the provider. */
const appendedFields = new Set([
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
  'arguments',
  'input',
  'text',
  'data',
]);

/** Assembles the chunks of a chat completion or legacy completion. */
function assembleChat(chunks: readonly Json[], hasDone: boolean): { answer: Json; isComplete: boolean } {
  const answer: Json = {};
  const choices = new Map<number, Json>();
  for (const { choices: chunkChoices, ...rest } of chunks) {
    // The last usage report applies; chunks before it contain `null`.
    for (const [name, value] of Object.entries(rest)) if (value !== null || !(name in answer)) answer[name] = value;
    for (const choice of objectsOf(chunkChoices)) mergeChoice(choices, choice);
  }
  const whole = [...choices.entries()].sort(([one], [other]) => one - other).map(([, choice]) => finished(choice));
  if (answer.object === 'chat.completion.chunk') answer.object = 'chat.completion';
  const isComplete = hasDone || (whole.length > 0 && whole.every(({ finish_reason: reason }) => Boolean(reason)));
  return { answer: { ...answer, choices: whole }, isComplete };
}

/** Only chunks have the index of a call. */
function finished(choice: Json): Json {
  const message = objectOf(choice.message);
  if (!Array.isArray(message.tool_calls)) return choice;
  const calls = objectsOf(message.tool_calls).map(({ index: _, ...call }) => call);
  return { ...choice, message: { ...message, tool_calls: calls } };
}

function mergeChoice(choices: Map<number, Json>, { delta, ...rest }: Json): void {
  const index = numberOf(rest.index) ?? 0;
  const choice: Json = choices.get(index) ?? { index };
  choices.set(index, choice);
  if (isObject(delta)) {
    const message = objectOf(choice.message);
    merge(message, delta);
    choice.message = message;
  }
  for (const [name, value] of Object.entries(rest)) {
    if (name === 'text') choice.text = `${choice.text ?? ''}${value ?? ''}`;
    else if (value !== null || !(name in choice)) choice[name] = value;
  }
}

function merge(whole: Json, delta: Json): void {
  for (const [name, value] of Object.entries(delta)) {
    const old = whole[name];
    if (value === null || value === undefined) whole[name] ??= null;
    else if (typeof value === 'string' && typeof old === 'string' && appendedFields.has(name))
      whole[name] = old + value;
    else if (Array.isArray(value)) whole[name] = mergeList(Array.isArray(old) ? old : [], value);
    else if (isObject(value)) {
      const inner = { ...objectOf(old) };
      merge(inner, value);
      whole[name] = inner;
    } else if (value !== '' || old === undefined) whole[name] = value;
  }
}

/**
 * Matches elements by `index`, if present. An element whose id differs from the previous one at its index is a new one.
 */
function mergeList(whole: readonly unknown[], delta: readonly unknown[]): unknown[] {
  const merged = [...whole];
  for (const element of delta) {
    const at = isObject(element) ? merged.findLastIndex((each) => isSame(objectOf(each), element)) : -1;
    if (at === -1 || !isObject(element)) {
      merged.push(element);
      continue;
    }
    const inner = { ...objectOf(merged[at]) };
    merge(inner, element);
    merged[at] = inner;
  }
  return merged;
}

function isSame(one: Json, other: Json): boolean {
  if (typeof other.index !== 'number' || one.index !== other.index) return false;
  return !one.id || !other.id || one.id === other.id;
}

/** Assembles the events of an Anthropic message. */
function assembleMessage(events: readonly Json[]): { answer: Json; isComplete: boolean } {
  let message: Json = { type: 'message', role: 'assistant' };
  const blocks = new Map<number, Json>();
  const inputs = new Map<number, string>();
  for (const event of events) {
    const index = numberOf(event.index) ?? 0;
    if (event.type === 'message_start') message = { ...objectOf(event.message) };
    else if (event.type === 'content_block_start') blocks.set(index, { ...objectOf(event.content_block) });
    else if (event.type === 'content_block_delta') {
      const delta = objectOf(event.delta);
      if (delta.type === 'input_json_delta') inputs.set(index, (inputs.get(index) ?? '') + textOf(delta.partial_json));
      else blocks.set(index, withDelta(blocks.get(index) ?? {}, delta));
    } else if (event.type === 'message_delta') {
      const usage = { ...objectOf(message.usage), ...objectOf(event.usage) };
      message = { ...message, ...objectOf(event.delta), usage };
    }
  }
  for (const [index, input] of inputs) blocks.set(index, { ...blocks.get(index), input: parsedInput(input) });
  const content = [...blocks.entries()].sort(([one], [other]) => one - other).map(([, block]) => block);
  return { answer: { ...message, content }, isComplete: events.some(({ type }) => type === 'message_stop') };
}

function withDelta(block: Json, delta: Json): Json {
  switch (delta.type) {
    case 'text_delta':
      return { type: 'text', ...block, text: textOf(block.text) + textOf(delta.text) };
    case 'thinking_delta':
      return { type: 'thinking', ...block, thinking: textOf(block.thinking) + textOf(delta.thinking) };
    case 'signature_delta':
      return { ...block, signature: textOf(block.signature) + textOf(delta.signature) };
    case 'citations_delta': {
      const citations = Array.isArray(block.citations) ? block.citations : [];
      return { ...block, citations: [...citations, delta.citation] };
    }
    default:
      return block;
  }
}

/** A call without input has no input deltas. Truncated input stays as the text received. */
function parsedInput(input: string): unknown {
  try {
    return input === '' ? {} : JSON.parse(input);
  } catch {
    return input;
  }
}

const ends = ['response.completed', 'response.failed', 'response.incomplete'];

/** The last event contains the whole response. Without it, returns the items as far as they were received. */
function assembleResponse(events: readonly Json[]): { answer: Json; isComplete: boolean } {
  const last = events.findLast(({ type }) => ends.includes(textOf(type)));
  const items = itemsOf(events);
  if (last && isObject(last.response)) {
    // If the final response has no items, those received before are used.
    const output = Array.isArray(last.response.output) && last.response.output.length > 0 ? {} : { output: items };
    return { answer: { ...last.response, ...output }, isComplete: true };
  }
  const created = objectOf(events.find(({ response }) => isObject(response))?.response);
  return { answer: { ...created, output: items }, isComplete: false };
}

function itemsOf(events: readonly Json[]): Json[] {
  const items = new Map<number, Json>();
  for (const event of events) {
    const index = numberOf(event.output_index) ?? 0;
    const item = items.get(index);
    switch (event.type) {
      case 'response.output_item.added':
      case 'response.output_item.done':
        items.set(index, structuredClone(objectOf(event.item)));
        break;
      case 'response.function_call_arguments.delta':
        if (item) item.arguments = textOf(item.arguments) + textOf(event.delta);
        break;
      case 'response.custom_tool_call_input.delta':
        if (item) item.input = textOf(item.input) + textOf(event.delta);
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        if (item) addText(item, event);
    }
  }
  return [...items.entries()].sort(([one], [other]) => one - other).map(([, item]) => item);
}

const partTypes: Record<string, { list: string; type: string; member: string }> = {
  'response.output_text.delta': { list: 'content', type: 'output_text', member: 'text' },
  'response.refusal.delta': { list: 'content', type: 'refusal', member: 'refusal' },
  'response.reasoning_text.delta': { list: 'content', type: 'reasoning_text', member: 'text' },
  'response.reasoning_summary_text.delta': { list: 'summary', type: 'summary_text', member: 'text' },
};

function addText(item: Json, event: Json): void {
  const part = partTypes[textOf(event.type)];
  if (!part) return;
  const index = numberOf(event.content_index) ?? numberOf(event.summary_index) ?? 0;
  const list = objectsOf(item[part.list]);
  const old = list[index];
  const text = textOf(old?.[part.member]) + textOf(event.delta);
  const newPart = { ...old, type: part.type, [part.member]: text };
  if (old) list[index] = newPart;
  else list.push(newPart);
  item[part.list] = list;
}

/** Assembles the chunks of a Gemini answer. */
function assembleGemini(chunks: readonly Json[]): { answer: Json; isComplete: boolean } {
  let answer: Json = {};
  const candidates = new Map<number, Json>();
  for (const { candidates: chunkCandidates, ...rest } of chunks) {
    answer = { ...answer, ...rest };
    for (const candidate of objectsOf(chunkCandidates)) mergeCandidate(candidates, candidate);
  }
  const whole = [...candidates.entries()].sort(([one], [other]) => one - other).map(([, candidate]) => candidate);
  const isComplete = whole.length > 0 && whole.every(({ finishReason }) => Boolean(finishReason));
  return { answer: { candidates: whole, ...answer }, isComplete };
}

function mergeCandidate(candidates: Map<number, Json>, { content, ...rest }: Json): void {
  const index = numberOf(rest.index) ?? 0;
  const candidate = candidates.get(index) ?? {};
  const old = objectOf(candidate.content);
  const parts = objectsOf(objectOf(content).parts).reduce(withPart, objectsOf(old.parts));
  candidates.set(index, { ...candidate, ...rest, content: { ...old, ...objectOf(content), parts } });
}

/** Consecutive texts are joined, and so are consecutive thoughts. */
function withPart(parts: Json[], part: Json): Json[] {
  const last = parts.at(-1);
  const isMore =
    last !== undefined &&
    typeof part.text === 'string' &&
    typeof last.text === 'string' &&
    Boolean(part.thought) === Boolean(last.thought);
  return isMore ? [...parts.slice(0, -1), { ...last, ...part, text: `${last.text}${part.text}` }] : [...parts, part];
}
