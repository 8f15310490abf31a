import type { Wire } from '../core/wire.ts';
import { messages } from './messages.ts';

/**
 * `POST /v1/messages/count_tokens`: the request of `POST /v1/messages` without the limits of its answer. Bedrock counts them as
 * `inputTokens`.
 */
export const messagesTokenCount: Wire = {
  ...messages,
  whole: { ...messages.whole, marks: ['"input_tokens"', '"inputTokens"'] },
  stream: null,
  rescue: null,
};
