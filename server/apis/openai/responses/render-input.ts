/** Renders turns as the items of a Responses request. */

import type { OpenaiFacts } from '../../../models/model-facts.ts';
import type { CallPart, MediaPart, Part, ResultPart, ThinkingPart, Turn } from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { refuse } from '../../neutral/losses.ts';
import { fileNameOf, textOfDocument, urlOfSource } from '../../neutral/media.ts';
import { errorText, goOn, type Rendering } from '../../neutral/requests/rendering.ts';

type Json = Record<string, unknown>;

export function renderInput(rendering: Rendering, { isOpenai }: OpenaiFacts): Json[] {
  /** Calls of custom tools, whose results have their own type. */
  const customCalls = new Set<string>();
  const items = rendering.turns.flatMap((turn) => {
    if (turn.role === 'assistant') return renderAssistant(rendering, turn, { customCalls, takesCustom: isOpenai });
    const results = turn.parts.filter((part) => part.type === 'result');
    const content = renderContent(
      rendering,
      turn.parts.filter((part) => part.type !== 'result'),
    );
    const role = turn.role === 'system' ? 'developer' : 'user';
    return [
      ...results.map((result) => renderResult(rendering, result, customCalls.has(result.callId))),
      ...(content.length === 0 ? [] : [{ type: 'message', role, content }]),
    ];
  });
  if (items.at(-1)?.role !== 'assistant') return items;
  rendering.emulate('messages', isOpenai ? 'added-turn' : 'prefill');
  return isOpenai
    ? [...items, { type: 'message', role: 'user', content: [{ type: 'input_text', text: goOn }] }]
    : items;
}

interface CustomTools {
  customCalls: Set<string>;
  takesCustom: boolean;
}

function renderAssistant(rendering: Rendering, { parts }: Turn, customTools: CustomTools): Json[] {
  const items: Json[] = [];
  /** Content of the current message; adjacent texts form one. */
  let content: Json[] | null = null;
  for (const [index, part] of parts.entries()) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.text === '') continue;
      if (content === null) {
        content = [];
        items.push({ type: 'message', role: 'assistant', content });
      }
      content.push(
        part.type === 'text' ? { type: 'output_text', text: part.text } : { type: 'refusal', refusal: part.text },
      );
      continue;
    }
    content = null;
    if (part.type === 'call') items.push(renderCall(rendering, part, customTools));
    else if (part.type === 'thinking') items.push(...renderThinking(rendering, part, parts[index + 1]));
    else rendering.losses.dropped(part.at, 'provider-item');
  }
  return items;
}

/** OpenAI refuses a reasoning item without the item that followed it. */
function renderThinking(rendering: Rendering, { seal, text, at }: ThinkingPart, next: Part | undefined): Json[] {
  const isFollowed = next?.type === 'text' || next?.type === 'call' || next?.type === 'thinking';
  if (!rendering.opens(seal) || seal.kind !== 'encrypted' || !isFollowed) {
    rendering.losses.dropped(at, seal === undefined ? 'unsealed-reasoning' : 'foreign-reasoning');
    return [];
  }
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return [{ type: 'reasoning', id: seal.itemId, summary, encrypted_content: seal.data }];
}

function renderCall(rendering: Rendering, call: CallPart, { customCalls, takesCustom }: CustomTools): Json {
  const name = rendering.names.encode(call);
  if (call.seal) rendering.losses.dropped(call.at, 'foreign-reasoning');
  if (call.kind === 'custom' && takesCustom) {
    customCalls.add(call.id);
    return { type: 'custom_tool_call', call_id: call.id, name, input: call.arguments };
  }
  const callArguments = call.kind === 'custom' ? writeJson({ input: call.arguments }) : call.arguments.trim() || '{}';
  return { type: 'function_call', call_id: call.id, name, arguments: callArguments };
}

function renderResult(rendering: Rendering, { callId, parts, isError, at }: ResultPart, isCustom: boolean): Json {
  if (isError && at !== '') rendering.losses.emulated(`${at}.is_error`, 'as-text');
  const type = isCustom ? 'custom_tool_call_output' : 'function_call_output';
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const output = texts.join('\n');
  if (texts.length === parts.length) return { type, call_id: callId, output: isError ? errorText(output) : output };
  const content = renderContent(rendering, parts);
  const isMarked = !isError || errorText(output) === output;
  const mark = isMarked ? [] : [{ type: 'input_text', text: errorText('') }];
  return { type, call_id: callId, output: [...mark, ...content] };
}

function renderContent(rendering: Rendering, parts: readonly Part[]): Json[] {
  return parts.flatMap((part): Json[] => {
    if (part.type === 'text' || part.type === 'refusal') {
      return part.text === '' ? [] : [{ type: 'input_text', text: part.text }];
    }
    if (part.type === 'media') return [renderMedia(part)];
    rendering.losses.dropped(part.at, 'provider-item');
    return [];
  });
}

function renderMedia(part: MediaPart): Json {
  const { kind, source, detail, at } = part;
  if (source.type === 'text') return { type: 'input_text', text: textOfDocument(part, source.text) };
  if (source.type === 'file') return refuse(at, 'foreign-file');
  // OpenAI's schema requires `detail`, and vLLM refuses an image without it (vllm-project/vllm#57241).
  if (kind === 'image') return { type: 'input_image', image_url: urlOfSource(source), detail: detail ?? 'auto' };
  if (kind !== 'document') return refuse(at, 'media');
  if (source.type === 'url') return { type: 'input_file', file_url: source.url };
  return { type: 'input_file', filename: fileNameOf(part), file_data: urlOfSource(source) };
}
