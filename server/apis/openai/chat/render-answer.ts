/** Renders a whole chat completion. */
import type { AnswerContext } from '../../neutral/answers/answer-context.ts';
import type { CallPart, ThinkingPart } from '../../neutral/conversation.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type { Answer, AnswerPart } from '../../neutral/neutral-answer.ts';
import { wrapSeal } from '../../neutral/requests/carried-reasoning.ts';
import { chatAnnotation } from '../url-citations.ts';
import { renderChatUsage, renderFinishReason } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

export function renderChatAnswer(answer: Answer, context: AnswerContext): Json {
  return {
    id: completionId(answer.id),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.conversation.model,
    choices: [
      {
        index: 0,
        message: renderMessage(answer),
        logprobs: null,
        finish_reason: renderFinishReason(answer.stop.reason),
      },
    ],
    usage: answer.usage === null ? undefined : renderChatUsage(answer.usage),
  };
}

/** OpenAI's clients expect ids that begin with `chatcmpl-`. */
export function completionId(id: string): string {
  return id.startsWith('chatcmpl-') ? id : `chatcmpl-${id}`;
}

function renderMessage({ parts, citations }: Answer): Json {
  const content = parts.map(visibleText).join('');
  const refusal = parts.find(({ type }) => type === 'refusal');
  const thinking = parts.filter((part) => part.type === 'thinking');
  const calls = parts.filter((part) => part.type === 'call');
  const thoughts = thinking.map(({ text }) => text).filter((text) => text !== '');
  const details = thinking
    .flatMap(({ text, seal }) => (seal ? [reasoningDetail(seal, text)] : []))
    .map((detail, index) => ({ ...detail, index }));
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal) ? null : content,
    refusal: refusal?.type === 'refusal' ? refusal.text : null,
    reasoning_content: thoughts.length === 0 ? undefined : thoughts.join('\n\n'),
    reasoning_details: details.length === 0 ? undefined : details,
    tool_calls: calls.length === 0 ? undefined : calls.map(renderCall),
    annotations: citations?.map(chatAnnotation),
  };
}

export function visibleText(part: AnswerPart): string {
  if (part.type === 'text') return part.text;
  return part.type === 'media' ? pictureAsText(part) : '';
}

/** Uses OpenRouter's notation. Clients that keep unknown members send it back. */
export function reasoningDetail(seal: NonNullable<ThinkingPart['seal']>, text: string): Json {
  if (seal.kind === 'redacted' || seal.kind === 'encrypted') {
    return { type: 'reasoning.encrypted', ...(text === '' ? {} : { summary: text }), data: wrapSeal(seal) };
  }
  return { type: 'reasoning.text', text, signature: wrapSeal(seal) };
}

function renderCall(call: CallPart): Json {
  return { id: call.id, ...calledMembers(call, call.arguments), ...sealMembers(call) };
}

export function calledMembers({ name, kind }: Pick<CallPart, 'name' | 'kind'>, callArguments: string): Json {
  if (kind === 'custom') return { type: 'custom', custom: { name, input: callArguments } };
  return { type: 'function', function: { name, arguments: callArguments } };
}

/** Uses Google's notation, for the same reason. */
export function sealMembers({ seal }: Pick<CallPart, 'seal'>): Json {
  return seal === undefined ? {} : { extra_content: { google: { thought_signature: wrapSeal(seal) } } };
}
