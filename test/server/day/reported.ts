/** What a provider used for an answer, and how each API reports that. */
import type { Api } from '../../support/usage-told.ts';
import type { Json } from '../apis/translation/translating.ts';

/** Input includes what was read from and written to the cache, output includes reasoning. */
export interface Counts {
  input: number;
  cached: number;
  written: number;
  output: number;
  reasoning: number;
}

export const responsesUsage = (counts: Counts) => openai('input', 'output', counts);

function openai(input: string, output: string, counts: Counts): Json {
  return {
    [`${input}_tokens`]: counts.input,
    [`${input}_tokens_details`]: { cached_tokens: counts.cached, cache_write_tokens: counts.written },
    [`${output}_tokens`]: counts.output,
    [`${output}_tokens_details`]: { reasoning_tokens: counts.reasoning },
    total_tokens: counts.input + counts.output,
  };
}

const chat = (counts: Counts) => openai('prompt', 'completion', counts);
const claude = ({ input, cached, written, output, reasoning }: Counts) => ({
  input_tokens: input - cached - written,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: written,
  output_tokens: output,
  output_tokens_details: { thinking_tokens: reasoning },
});
const gemini = ({ input, cached, output, reasoning }: Counts) => ({
  promptTokenCount: input,
  cachedContentTokenCount: cached,
  candidatesTokenCount: output - reasoning,
  thoughtsTokenCount: reasoning,
  totalTokenCount: input + output,
});
const converse = ({ input, cached, written, output }: Counts) => ({
  inputTokens: input - cached - written,
  cacheReadInputTokens: cached,
  cacheWriteInputTokens: written,
  outputTokens: output,
  totalTokens: input + output,
});

export const usageObjects: Record<Api, (counts: Counts) => Json> = {
  chat,
  responses: responsesUsage,
  anthropic: claude,
  gemini,
  converse,
  'invoke-model': claude,
  'vertex-claude': claude,
  'vertex-gemini': gemini,
};

/** What an API cannot say is 0 wherever it is shown. */
export function sayable(api: Api, counts: Counts): Counts {
  if (api === 'converse') return { ...counts, reasoning: 0 };
  return api === 'gemini' || api === 'vertex-gemini' ? { ...counts, written: 0 } : counts;
}

export const realtimeUsage = ({ input, cached, output }: Counts) => ({
  total_tokens: input + output,
  input_tokens: input,
  output_tokens: output,
  input_token_details: { text_tokens: input, audio_tokens: 0, cached_tokens: cached },
  output_token_details: { text_tokens: output, audio_tokens: 0 },
});
