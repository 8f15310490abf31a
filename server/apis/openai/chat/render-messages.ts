/** Renders turns as the messages of a chat request. */

import type { LossCode } from '../../../contract/loss-codes.ts';
import type { OpenaiFacts } from '../../../models/model-facts.ts';
import { entryOf } from '../../core/table-entry.ts';
import { append } from '../../neutral/answers/growing-text.ts';
import type { CallPart, MediaPart, Part, ResultPart, Seal, ThinkingPart, Turn } from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { refuse } from '../../neutral/losses.ts';
import { fileNameOf, textIn, textOfDocument, urlOfSource } from '../../neutral/media.ts';
import { errorText, goOn, type Rendering } from '../../neutral/requests/rendering.ts';
import { membersOf } from './parse-message.ts';

type Json = Record<string, unknown>;

/**
 * Renders one system message at the beginning, as plain text, because chat templates such as Qwen's accept nothing
 * else.
 */
export function renderMessages(rendering: Rendering, facts: OpenaiFacts, prompts: readonly string[]): Json[] {
  const { instructions } = rendering.conversation;
  const system = [...instructions.map(({ text }) => text), ...prompts].join('\n\n');
  const messages: Json[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (const turn of rendering.turns) append(messages, renderTurn(rendering, turn, facts));
  return messages.at(-1)?.role === 'assistant' ? withPrefill(rendering, messages, facts) : messages;
}

/** OpenAI's models start over after an answer; of other services only some say whether theirs do. */
function withPrefill(rendering: Rendering, messages: readonly Json[], { isOpenai }: OpenaiFacts): Json[] {
  const { prefill } = rendering.target;
  if (prefill) return [...messages.slice(0, -1), { ...messages.at(-1), ...prefill.message }];
  rendering.emulate('messages', isOpenai ? 'added-turn' : 'prefill');
  return isOpenai ? [...messages, { role: 'user', content: goOn }] : [...messages];
}

function renderTurn(rendering: Rendering, { role, parts }: Turn, facts: OpenaiFacts): Json[] {
  if (role === 'assistant') return renderAssistant(rendering, parts, facts);
  const results = parts.filter((part) => part.type === 'result');
  const rest = renderContent(
    rendering,
    parts.filter((part) => part.type !== 'result'),
  );
  const message = role === 'system' ? { role, content: joinTexts(parts) } : { role, content: plainest(rest) };
  return [...renderResults(rendering, results), ...(rest.length === 0 ? [] : [message])];
}

function renderAssistant(rendering: Rendering, parts: readonly Part[], facts: OpenaiFacts): Json[] {
  const calls = parts.filter((part) => part.type === 'call');
  const refusals = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : []));
  const refusal = refusals.length === 0 ? undefined : refusals.join('\n\n');
  const content = joinTexts(parts);
  for (const { type, at } of parts) if (type === 'foreign') rendering.losses.dropped(at, 'provider-item');
  if (content === '' && calls.length === 0 && refusal === undefined) {
    for (const { type, at } of parts) if (type === 'thinking') rendering.losses.dropped(at, 'no-equal');
    return [];
  }
  const thoughts = renderThoughts(rendering, parts, facts);
  const message: Json = { role: 'assistant', content: content === '' ? null : content, refusal, ...thoughts };
  if (calls.length > 0) message.tool_calls = calls.map((call) => renderCall(rendering, call));
  return [message];
}

/**
 * Members that the provider itself sent go back to it as they came. DeepSeek and Kimi require reasoning to be returned with
 * calls, whoever thought it, unless the service refuses the field.
 */
function renderThoughts(rendering: Rendering, parts: readonly Part[], facts: OpenaiFacts): Json {
  const thinking = parts.filter((part) => part.type === 'thinking');
  const takesMembers = takes(rendering, 'reasoning_details');
  const own = thinking.flatMap(({ seal }) =>
    takesMembers && rendering.opens(seal) && isOfMembers(seal) ? [seal] : [],
  );
  const others = thinking.filter(({ seal }) => seal === undefined || !own.includes(seal));
  const isWanted = facts.needsReasoningBack && own.length === 0 && parts.some(({ type }) => type === 'call');
  if (isWanted && others.length > 0 && takes(rendering, 'reasoning_content'))
    return { reasoning_content: joinThoughts(rendering, others) };
  for (const { at, seal } of others) rendering.losses.dropped(at, whyDropped(rendering, seal));
  return membersOf(own);
}

function takes({ target }: Rendering, member: string): boolean {
  return entryOf(target.chatFlavour?.messages ?? {}, member) !== null;
}

function isOfMembers({ kind, data }: Seal): boolean {
  return kind === 'members' || (kind === 'plain' && data !== '');
}

/** Its own as it wrote them. */
function joinThoughts(rendering: Rendering, thinking: readonly ThinkingPart[]): string {
  const isOwn = thinking.every(({ seal }) => rendering.opens(seal));
  return thinking.map(({ text }) => text).join(isOwn ? '' : '\n\n');
}

function whyDropped(rendering: Rendering, seal: Seal | undefined): LossCode {
  if (seal === undefined) return 'unsealed-reasoning';
  if (!rendering.opens(seal)) return 'foreign-reasoning';
  return takes(rendering, isOfMembers(seal) ? 'reasoning_details' : 'reasoning_content')
    ? 'model-takes-none'
    : 'provider-refuses';
}

function renderCall(rendering: Rendering, call: CallPart): Json {
  const name = rendering.names.encode(call);
  const isCustom = call.kind === 'custom';
  const callArguments = isCustom ? writeJson({ input: call.arguments }) : call.arguments.trim() || '{}';
  const rendered: Json = { id: call.id, type: 'function', function: { name, arguments: callArguments } };
  if (rendering.opens(call.seal)) return { ...rendered, ...membersOf([call.seal]) };
  if (call.seal) rendering.losses.dropped(call.at, 'foreign-reasoning');
  return rendered;
}

/** Renders all results first, followed by one user message with the media that a `tool` message cannot contain. */
function renderResults(rendering: Rendering, results: readonly ResultPart[]): Json[] {
  const messages: Json[] = [];
  const moved: Json[] = [];
  for (const { callId, parts, isError, at } of results) {
    const texts = parts.flatMap((part) => textIn(part) ?? []);
    const media = parts.filter((part): part is MediaPart => textIn(part) === null);
    for (const part of media) rendering.losses.emulated(part.at, 'moved-media');
    if (media.length > 0)
      append(moved, [{ type: 'text', text: `from ${callId}:` }, ...renderContent(rendering, media)]);
    if (isError && at !== '') rendering.losses.emulated(`${at}.is_error`, 'as-text');
    const output = texts.join('\n') || (media.length > 0 ? 'The result follows in the next message.' : '(no output)');
    messages.push({ role: 'tool', tool_call_id: callId, content: isError ? errorText(output) : output });
  }
  return moved.length === 0 ? messages : [...messages, { role: 'user', content: moved }];
}

function renderContent(rendering: Rendering, parts: readonly Part[]): Json[] {
  return parts.flatMap((part) => {
    if (part.type === 'text' || part.type === 'refusal')
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    if (part.type === 'media') return [renderMedia(part)];
    rendering.losses.dropped(part.at, 'provider-item');
    return [];
  });
}

function renderMedia(part: MediaPart): Json {
  const { kind, source, detail, at } = part;
  if (source.type === 'text') return { type: 'text', text: textOfDocument(part, source.text) };
  if (source.type === 'file') return refuse(at, 'foreign-file');
  if (kind === 'image') return { type: 'image_url', image_url: { url: urlOfSource(source), detail } };
  if (source.type === 'url') return refuse(at, 'media');
  if (kind === 'document') {
    return { type: 'file', file: { filename: fileNameOf(part), file_data: urlOfSource(source) } };
  }
  const format = entryOf(soundFormats, source.mediaType);
  return format === undefined
    ? refuse(at, 'media')
    : { type: 'input_audio', input_audio: { data: source.data, format } };
}

const soundFormats: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
};

/** A single text is sent as a string, which every service accepts. */
function plainest(content: readonly Json[]): unknown {
  const [only] = content;
  return content.length === 1 && only?.type === 'text' ? only.text : content;
}

/** Joins adjacent texts that citations had divided. */
function joinTexts(parts: readonly Part[]): string {
  let text = '';
  let before: Part | undefined;
  for (const part of parts) {
    if (part.type === 'text') {
      const goesOn = before?.type === 'text' && before.isApart !== true && part.isApart !== true;
      text += text === '' || goesOn ? part.text : `\n\n${part.text}`;
    }
    before = part;
  }
  return text;
}
