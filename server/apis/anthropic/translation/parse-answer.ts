/** Parses a whole answer of Anthropic's API. */
import { isObject } from '../../../contract/is-object.ts';
import { usageOf } from '../../neutral/answers/token-usage.ts';
import { writeJson } from '../../neutral/json-text.ts';
import type { Answer, AnswerPart } from '../../neutral/neutral-answer.ts';
import { messagesReports } from '../usage.ts';
import { parseStop } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

/** Null if the body is not a message. */
export function parseMessagesAnswer(body: unknown): Answer | null {
  if (!isObject(body) || !Array.isArray(body.content)) return null;
  return {
    id: textOf(body.id),
    parts: body.content.filter(isObject).flatMap(parseBlock),
    stop: parseStop(body),
    usage: usageOf(body, messagesReports),
  };
}

function parseBlock(block: Json): AnswerPart[] {
  const type = textOf(block.type);
  if (type === 'text') {
    const citations: AnswerPart[] = hasItems(block.citations) ? [{ type: 'foreign', name: 'citations', at: '' }] : [];
    return [{ type, text: textOf(block.text), at: '' }, ...citations];
  }
  if (type === 'thinking') {
    const seal = { kind: 'signature' as const, data: textOf(block.signature) };
    return [{ type, text: textOf(block.thinking), seal, at: '' }];
  }
  if (type === 'redacted_thinking') {
    return [{ type: 'thinking', text: '', seal: { kind: 'redacted', data: textOf(block.data) }, at: '' }];
  }
  if (type === 'tool_use') {
    const callArguments = writeJson(block.input ?? {});
    return [
      {
        type: 'call',
        id: textOf(block.id),
        name: textOf(block.name),
        arguments: callArguments,
        kind: 'function',
        at: '',
      },
    ];
  }
  return [{ type: 'foreign', name: type, at: '' }];
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
