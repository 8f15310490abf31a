/**
 * Estimates the number of tokens of a conversation, too high rather than too low: for an answer's first event, which
 * reports them before the upstream does, and for `count_tokens` with an upstream that cannot count.
 */

import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { mediaTokens } from '../core/usage/prompt-estimate.ts';
import type { Conversation, Part, WireName } from '../neutral/conversation.ts';
import { parseLosslessJson, refuseTooDeep, writeJson } from '../neutral/json-text.ts';
import { Losses } from '../neutral/losses.ts';
import { wireTranslations } from './translation-registry.ts';

/** Code has about 3 bytes per token, other text 4; tokenizers differ by a third. */
const bytesPerToken = 3;
const tokensPerTurn = 5;
const tokensPerTool = 20;
/** Tokens that a service adds to a request with tools. */
const tokensForTools = 350;

export function estimateInputTokens({ instructions, turns, tools }: Conversation): number {
  let tokens = tools.length === 0 ? 0 : tokensForTools;
  for (const { text } of instructions) tokens += tokensOf(text);
  for (const { parts } of turns) tokens += parts.reduce((sum, part) => sum + tokensOfPart(part), tokensPerTurn);
  for (const { name, description, schema } of tools) {
    tokens +=
      tokensPerTool +
      tokensOf(name) +
      tokensOf(description ?? '') +
      tokensOf(schema === undefined ? '' : writeJson(schema));
  }
  return Math.max(1, Math.ceil(tokens));
}

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return tokensOf(part.text);
    case 'call':
      return tokensPerTool + tokensOf(part.name) + tokensOf(part.arguments);
    case 'result':
      return part.parts.reduce((sum, each) => sum + tokensOfPart(each), tokensPerTool);
    case 'media':
      if (part.source.type === 'text') return tokensOf(part.source.text);
      return mediaTokens(part.kind, part.source.type === 'base64' ? part.source.data.length : 0, part.detail);
    default:
      return 0;
  }
}

function tokensOf(text: string): number {
  return Buffer.byteLength(text) / bytesPerToken;
}

/**
 * Estimates the number of tokens of a request, too high rather than too low.
 * @throws GatewayError `malformed_json`, or `invalid_value` that names the field
 */
export function estimateRequestTokens(wire: WireName, body: Buffer): number {
  return estimateInputTokens(wireTranslations[wire].parseRequest(countedRequest(body), new Losses()));
}

/**
 * The request whose tokens are counted. The body has no output limit, because no answer is requested. Gemini's body
 * names no model, and may contain the request in a nested member.
 * @throws GatewayError `malformed_json`, or `invalid_value` for a body that is nested too deeply
 */
export function countedRequest(body: Buffer): Record<string, unknown> {
  const value = parseLosslessJson(body.toString());
  if (!isObject(value)) throw new GatewayError('malformed_json', 'The body is no JSON object.');
  refuseTooDeep(value);
  const nested = value.generateContentRequest ?? value.generate_content_request;
  return { max_tokens: 1, model: '', ...(isObject(nested) ? nested : value) };
}
