/** Parses a whole answer of Bedrock's Converse API. */
import { isObject } from '../../../contract/is-object.ts';
import { usageOf } from '../../neutral/answers/token-usage.ts';
import type { Seal } from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import type { Answer, AnswerPart } from '../../neutral/neutral-answer.ts';
import { converseReports } from '../usage.ts';
import { parseStop } from './stops.ts';

type Json = Record<string, unknown>;

/** Null if the body is not an answer. Its id is only in a header. */
export function parseConverseAnswer(body: unknown): Answer | null {
  if (!isObject(body) || !isObject(body.output) || !isObject(body.output.message)) return null;
  const { content } = body.output.message;
  return {
    id: '',
    parts: (Array.isArray(content) ? content : []).filter(isObject).flatMap(parseBlock),
    stop: parseStop(body),
    usage: usageOf(body, converseReports),
  };
}

function parseBlock(block: Json): AnswerPart[] {
  const { text, toolUse, reasoningContent, citationsContent } = block;
  if (typeof text === 'string') return [{ type: 'text', text, at: '' }];
  if (isObject(toolUse)) {
    const callArguments = writeJson(toolUse.input ?? {});
    const id = textOf(toolUse.toolUseId);
    return [{ type: 'call', id, name: textOf(toolUse.name), arguments: callArguments, kind: 'function', at: '' }];
  }
  if (isObject(reasoningContent)) return [parseReasoning(reasoningContent)];
  if (isObject(citationsContent)) return parseCited(citationsContent);
  return Object.keys(block)
    .slice(0, 1)
    .map((name) => ({ type: 'foreign', name, at: '' }));
}

function parseReasoning({ reasoningText, redactedContent }: Json): AnswerPart {
  if (!isObject(reasoningText)) {
    return { type: 'thinking', text: '', seal: { kind: 'redacted', data: textOf(redactedContent) }, at: '' };
  }
  return { type: 'thinking', text: textOf(reasoningText.text), seal: sealOf(reasoningText.signature), at: '' };
}

/** Only some models sign their reasoning. That of others is sent back unchanged. */
export function sealOf(signature: unknown): Seal {
  const data = textOf(signature);
  return data === '' ? { kind: 'plain', data } : { kind: 'signature', data };
}

function parseCited({ content }: Json): AnswerPart[] {
  const texts = (Array.isArray(content) ? content : []).filter(isObject).map(({ text }) => textOf(text));
  return [
    { type: 'text', text: texts.join(''), at: '' },
    { type: 'foreign', name: 'citations', at: '' },
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
