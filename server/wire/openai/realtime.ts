/**
 * The wire of realtime sessions: `GET /v1/realtime`, a WebSocket whose messages are JSON events in both directions. The
 * handshake has no body, and its refusal is an HTTP response in the API's shape.
 * Source: OpenAI, API reference, "Realtime"; Azure OpenAI, "Realtime API reference".
 */
import type { ModelBounds, UsageFormat, Wire } from '../wire.ts';
import { jsonAnswer, jsonRequest } from './formats.ts';
import { openaiErrors } from './read-error.ts';

/** A short turn of speech in both directions. */
const likelyInputTokens = 1_000;
const likelyOutputTokens = 300;
/** The largest context window and the longest response of OpenAI's realtime models (`gpt-realtime-2`, November 2026). */
const usualContextTokens = 128_000;
const usualOutputTokens = 32_000;

/** Of one response within a session; what a session uses besides its responses is not known before. */
const responseUsage: UsageFormat = {
  likely: () => ({ inputTokens: likelyInputTokens, outputTokens: likelyOutputTokens }),
  worst: (_body, model) => worstOf(model),
  hints: () => ({}),
  read: () => ({ usage: null, certainty: 'none', status: null }),
  text: null,
};

/** Sound costs more than text, so all of it may be sound. */
function worstOf({ contextTokens, outputTokens }: ModelBounds) {
  const input = contextTokens ?? usualContextTokens;
  const output = outputTokens ?? usualOutputTokens;
  return { inputTokens: input, audioInputTokens: input, outputTokens: output, audioOutputTokens: output };
}

export const realtime: Wire = {
  name: 'openai-realtime',
  operation: 'realtime',
  request: jsonRequest,
  errors: openaiErrors,
  usage: responseUsage,
  whole: jsonAnswer([]),
  stream: null,
  rescue: null,
};
