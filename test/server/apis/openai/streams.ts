/** OpenAI's streams by the names that their tests use. */
import type { KeptAnswer, UsageHints } from '../../../../server/apis/core/wire.ts';
import { extractUsage } from '../../../../server/apis/openai/usage/usage.ts';
import {
  chatStream,
  imageStream,
  responseStream,
  speechStream,
  transcriptStream,
} from '../../../../server/apis/openai/wire/streams.ts';
import type { capabilities } from '../../../../server/contract/operations.ts';

// Extracts the usage from a reply, in the form that tests need.

export type Capability = (typeof capabilities)[number];

type Hints = UsageHints & Partial<Pick<KeptAnswer, 'head' | 'bytes'>>;

/** For a reply that was kept as a whole, unless `head` and its length specify otherwise. */
export function extract(
  capability: Capability,
  reply: unknown,
  contentType = 'application/json',
  { head, bytes, ...hints }: Hints = {},
) {
  const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
  const tail = Buffer.isBuffer(reply) ? reply : Buffer.from(text);
  const answer = { tail, head: head ?? Buffer.alloc(0), bytes: bytes ?? tail.length, contentType };
  return extractUsage(capability, answer, hints);
}

export const streams = {
  chat: chatStream,
  responses: responseStream,
  images: imageStream,
  transcription: transcriptStream,
  speech: speechStream,
};

export type StreamName = keyof typeof streams;
