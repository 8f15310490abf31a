import type { Wire } from '../core/wire.ts';
import { geminiAnswer } from './generate.ts';
import { type GeminiField, geminiRequest } from './request.ts';
import { geminiUsage } from './usage.ts';

/** `:embedContent`, and `:batchEmbedContents`, which `@google/genai` calls even for a single text. */
export const embedContents: Wire<GeminiField> = {
  name: 'gemini-embeddings',
  operation: 'embeddings',
  request: geminiRequest,
  whole: geminiAnswer(['embedding', 'embeddings'], {
    isNeverLonger: false,
    maxHeldBytes: 8 * 1024 * 1024,
    isNumbers: true,
  }),
  errorName: 'status',
  usage: geminiUsage,
  stream: null,
  rescue: null,
};
