import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import type { WireName } from '../neutral/conversation.ts';
import { parseLosslessJson, refuseTooDeep } from '../neutral/json-text.ts';
import { Losses } from '../neutral/losses.ts';
import { estimateInputTokens } from './estimate-input.ts';
import { wireTranslations } from './translation-registry.ts';

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
