/** Parses a whole response. */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import { errorIn } from '../../core/upstream-error.ts';
import { usageOf } from '../../neutral/answers/token-usage.ts';
import type { Seal } from '../../neutral/conversation.ts';
import type { Answer, AnswerPart } from '../../neutral/neutral-answer.ts';
import { responseReports } from '../usage/usage-shapes.ts';
import { parseResponseStop } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

/** Null if the body is not a response. */
export function parseResponsesAnswer(body: unknown): Answer | null {
  if (!isObject(body) || !Array.isArray(body.output)) return null;
  const answer: Answer = {
    id: textOf(body.id),
    parts: body.output.filter(isObject).flatMap(parseItem),
    stop: parseResponseStop(body),
    usage: usageOf(body, responseReports),
  };
  return body.status === 'failed' ? { ...answer, error: tellErrorWithin(errorIn(body)) } : answer;
}

function parseItem(item: Json): AnswerPart[] {
  const type = textOf(item.type);
  if (type === 'message') return listOf(item.content).flatMap(parseContent);
  if (type === 'reasoning') return [{ type: 'thinking', text: thoughtOf(item), seal: sealOf(item), at: '' }];
  if (type === 'function_call' || type === 'custom_tool_call') {
    const isCustom = type === 'custom_tool_call';
    const callArguments = textOf(isCustom ? item.input : item.arguments);
    const kind = isCustom ? 'custom' : 'function';
    return [
      { type: 'call', id: textOf(item.call_id), name: textOf(item.name), arguments: callArguments, kind, at: '' },
    ];
  }
  return [{ type: 'foreign', name: type, at: '' }];
}

function parseContent(part: Json): AnswerPart[] {
  if (part.type === 'refusal') return [{ type: 'refusal', text: textOf(part.refusal), at: '' }];
  if (part.type !== 'output_text') return [{ type: 'foreign', name: textOf(part.type), at: '' }];
  const citations: AnswerPart[] =
    listOf(part.annotations).length > 0 ? [{ type: 'foreign', name: 'annotations', at: '' }] : [];
  return [{ type: 'text', text: textOf(part.text), at: '' }, ...citations];
}

function thoughtOf(item: Json): string {
  return [...listOf(item.summary), ...listOf(item.content)].map(({ text }) => textOf(text)).join('\n\n');
}

/** The data that must be sent back with the item. */
export function sealOf(item: Json): Seal {
  const data = textOf(item.encrypted_content);
  return { kind: data === '' ? 'plain' : 'encrypted', data, itemId: textOf(item.id) || undefined };
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
