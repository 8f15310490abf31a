/**
 * Renders turns as messages under the rules of Anthropic's API: the first message is the user's, roles alternate,
 * results are at the beginning of the message after their calls, no text is empty, and the last message is not the
 * assistant's on models without prefill.
 */

import { isObject } from '../../../contract/is-object.ts';
import type { ClaudeFacts } from '../../../models/model-facts.ts';
import { append } from '../../neutral/answers/growing-text.ts';
import type { CallPart, MediaPart, Part, ResultPart, ThinkingPart, Turn } from '../../neutral/conversation.ts';
import { parseLosslessJson, RawJson } from '../../neutral/json-text.ts';
import { refuse } from '../../neutral/losses.ts';
import { goOn, type Rendering } from '../../neutral/requests/rendering.ts';

type Json = Record<string, unknown>;

interface Message {
  role: 'user' | 'assistant' | 'system';
  content: Json[];
}

export function renderTurns(rendering: Rendering, facts: ClaudeFacts): Message[] {
  const messages: Message[] = [];
  for (const [index, turn] of rendering.turns.entries()) {
    const isNative = turn.role === 'system' && facts.systemTurns && mayBeSystem(rendering.turns, index);
    const role = turn.role === 'system' && !isNative ? 'user' : turn.role;
    const content =
      isNative || turn.role !== 'system' ? renderParts(rendering, turn.parts) : asReminder(rendering, turn);
    if (content.length === 0) continue;
    const before = messages.at(-1);
    if (before?.role === role) append(before.content, content);
    else messages.push({ role, content });
  }
  if (messages[0]?.role !== 'user') {
    rendering.emulate('messages', 'added-turn');
    messages.unshift({ role: 'user', content: [{ type: 'text', text: '(The conversation goes on.)' }] });
  }
  return endWithUser(rendering, messages, facts);
}

/**
 * Whether the last message has results for a turn whose thinking is missing. With `thinking.type` `enabled` such a
 * request is refused: "Expected `thinking`, but found `tool_use`".
 */
export function isInUnthinkingLoop(messages: readonly Message[]): boolean {
  const [callMessage, results] = messages.slice(-2);
  if (callMessage?.role !== 'assistant' || results?.content[0]?.type !== 'tool_result') return false;
  return callMessage.content[0]?.type !== 'thinking' && callMessage.content[0]?.type !== 'redacted_thinking';
}

/**
 * Anthropic, "Mid-conversation system messages": allowed after the user's turn, as the last one or before the
 * assistant's, and never two in a row.
 */
function mayBeSystem(turns: readonly Turn[], index: number): boolean {
  const next = turns[index + 1];
  return turns[index - 1]?.role === 'user' && (next === undefined || next.role === 'assistant');
}

/** Kept in its place: moving it to the top would change the prefix on which caches and signatures depend. */
function asReminder({ losses }: Rendering, { parts }: Turn): Json[] {
  return parts.flatMap((part) => {
    if (part.type !== 'text' || part.text.trim() === '') return [];
    losses.emulated(part.at, 'as-text');
    return [{ type: 'text', text: `<system-reminder>\n${part.text}\n</system-reminder>` }];
  });
}

/** Models from 4.6 on do not continue an answer; older ones refuse trailing whitespace in it. */
function endWithUser(rendering: Rendering, messages: Message[], { prefill }: ClaudeFacts): Message[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return messages;
  if (!prefill) {
    rendering.emulate('messages', 'added-turn');
    return [...messages, { role: 'user', content: [{ type: 'text', text: goOn }] }];
  }
  const block = last.content.at(-1);
  if (typeof block?.text === 'string') block.text = block.text.trimEnd();
  return messages;
}

function renderParts(rendering: Rendering, parts: readonly Part[]): Json[] {
  return parts.flatMap((part): Json[] => {
    switch (part.type) {
      case 'text':
      case 'refusal':
        // Nothing is lost by omitting empty text.
        return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
      case 'media':
        return [renderMedia(rendering, part)];
      case 'thinking':
        return renderThinking(rendering, part);
      case 'call':
        return [renderCall(rendering, part)];
      case 'result':
        return [renderResult(rendering, part)];
      default:
        rendering.losses.dropped(part.at, 'provider-item');
        return [];
    }
  });
}

/** Sent unchanged with its signature, or not at all, because a block without a signature is refused. */
function renderThinking(rendering: Rendering, { text, seal, at }: ThinkingPart): Json[] {
  if (!rendering.opens(seal)) {
    rendering.losses.dropped(at, seal === undefined ? 'unsealed-reasoning' : 'foreign-reasoning');
    return [];
  }
  if (seal.kind === 'redacted') return [{ type: 'redacted_thinking', data: seal.data }];
  if (seal.kind === 'signature') return [{ type: 'thinking', thinking: text, signature: seal.data }];
  rendering.losses.dropped(at, 'foreign-reasoning');
  return [];
}

function renderCall({ names, losses }: Rendering, call: CallPart): Json {
  if (call.seal) losses.dropped(call.at, 'foreign-reasoning');
  return { type: 'tool_use', id: call.id, name: names.encode(call), input: inputOf(call) };
}

/** Input that is not a JSON object is wrapped in one and kept: the model wrote it, and its next turn depends on it. */
function inputOf({ kind, arguments: callArguments }: CallPart): unknown {
  if (kind === 'custom') return { input: callArguments };
  if (callArguments.trim() === '') return {};
  return isObject(parseLosslessJson(callArguments)) ? new RawJson(callArguments) : { arguments: callArguments };
}

function renderResult(rendering: Rendering, { callId, parts, isError }: ResultPart): Json {
  const content = parts.flatMap((part): Json[] => {
    if (part.type === 'media') return [renderMedia(rendering, part)];
    return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  });
  return { type: 'tool_result', tool_use_id: callId, content, is_error: isError ? true : undefined };
}

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function renderMedia(rendering: Rendering, part: MediaPart): Json {
  const { kind, source, name, at } = part;
  rendering.dropDetail(part);
  if (source.type === 'file') return refuse(at, 'foreign-file');
  if (source.type === 'text') {
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: source.text }, title: name };
  }
  if (kind === 'audio' || kind === 'video') return refuse(at, 'media');
  const title = kind === 'document' ? name : undefined;
  const type = kind === 'image' ? 'image' : 'document';
  if (source.type === 'url') return { type, source: { type: 'url', url: source.url }, title };
  const { mediaType, data } = source;
  if (kind === 'image' && !imageTypes.includes(mediaType)) return refuse(at, 'media');
  if (kind === 'image' || mediaType === 'application/pdf') {
    return { type, source: { type: 'base64', media_type: mediaType, data }, title };
  }
  if (!mediaType.startsWith('text/')) return refuse(at, 'media');
  const text = Buffer.from(data, 'base64').toString();
  return { type, source: { type: 'text', media_type: 'text/plain', data: text }, title };
}
