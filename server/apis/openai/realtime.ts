/**
 * The wire of realtime sessions: `GET /v1/realtime`, a WebSocket with JSON events in both directions. The handshake has no
 * body; a refusal is an HTTP response in the API's error format.
 * Source: OpenAI, API reference, "Realtime"; Azure OpenAI, "Realtime API reference".
 */
import type { ModelBounds, UsageFormat, Wire } from '../core/wire.ts';
import { type CommonField, jsonAnswer, jsonRequest } from './wire/formats.ts';

/** Tokens of a short spoken turn in both directions. */
const likelyInputTokens = 1_000;
const likelyOutputTokens = 300;
/** The largest context window and the longest response of OpenAI's realtime models (`gpt-realtime-2`, November 2026). */
const usualContextTokens = 128_000;
const usualOutputTokens = 32_000;

/** Estimates one response within a session; other usage of a session cannot be estimated in advance. */
const responseUsage: UsageFormat<never> = {
  likely: () => ({ inputTokens: likelyInputTokens, outputTokens: likelyOutputTokens }),
  worst: (_body, model) => worstOf(model),
  hints: () => ({}),
  read: () => ({ usage: null, certainty: 'none', status: null }),
  text: null,
};

/** Assumes that all tokens are audio, because audio costs more than text. */
function worstOf({ contextTokens, outputTokens }: ModelBounds) {
  const input = contextTokens ?? usualContextTokens;
  const output = outputTokens ?? usualOutputTokens;
  return { inputTokens: input, audioInputTokens: input, outputTokens: output, audioOutputTokens: output };
}

export const realtime: Wire<CommonField> = {
  name: 'openai-realtime',
  operation: 'realtime',
  request: jsonRequest,
  errorName: 'code',
  usage: responseUsage,
  whole: jsonAnswer([]),
  stream: null,
  rescue: null,
};
