/**
 * The usage objects of real answers, by API, as documents of the services and reports of their users show them, and what
 * is billed for each.
 */
import type { Json } from '../server/apis/translation/translating.ts';
import type { Api, Told } from './usage-told.ts';

export interface RecordedUsage {
  /** Who writes such usage. */
  of: string;
  usage: Json;
  counts: Told;
}

const told = (input: number, output: number, more: Partial<Told> = {}): Told => ({
  ...{ input, cached: 0, output, reasoning: 0 },
  ...more,
});

const chat: readonly RecordedUsage[] = [
  {
    of: 'OpenAI (API reference, "Create chat completion")',
    usage: {
      ...{ prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        ...{ reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
      },
    },
    counts: told(19, 10),
  },
  {
    of: 'OpenRouter ("Usage accounting")',
    usage: {
      ...{ prompt_tokens: 194, completion_tokens: 32, total_tokens: 226, cost: 0.95, is_byok: false },
      prompt_tokens_details: { cached_tokens: 64, cache_write_tokens: 100, audio_tokens: 0, video_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 12, image_tokens: 0 },
      cost_details: { upstream_inference_cost: null },
    },
    counts: told(194, 32, { cached: 64, written: 100, reasoning: 12 }),
  },
  {
    of: 'DeepSeek ("Create chat completion")',
    usage: {
      ...{ prompt_tokens: 1000, completion_tokens: 30, total_tokens: 1030 },
      ...{ prompt_cache_hit_tokens: 896, prompt_cache_miss_tokens: 104 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    counts: told(1000, 30, { cached: 896, reasoning: 20 }),
  },
  {
    of: 'Groq ("Prompt caching")',
    usage: {
      ...{ queue_time: 0.02, prompt_tokens: 4641, prompt_time: 0.009, completion_tokens: 1817, completion_time: 5.57 },
      ...{ total_tokens: 6458, total_time: 5.58, prompt_tokens_details: { cached_tokens: 4608 } },
    },
    counts: told(4641, 1817, { cached: 4608 }),
  },
  {
    of: 'xAI (Wei-Shaw/sub2api#5771)',
    usage: {
      ...{ prompt_tokens: 10120, completion_tokens: 1499, total_tokens: 14428, num_sources_used: 0 },
      prompt_tokens_details: { text_tokens: 10120, audio_tokens: 0, image_tokens: 0, cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2809, audio_tokens: 0 },
    },
    counts: told(10120, 4308, { cached: 128, reasoning: 2809 }),
  },
  {
    of: 'Moonshot ("Chat")',
    usage: { prompt_tokens: 19, completion_tokens: 21, total_tokens: 40, cached_tokens: 10 },
    counts: told(19, 21, { cached: 10 }),
  },
  {
    of: 'vLLM',
    usage: { prompt_tokens: 40, total_tokens: 47, completion_tokens: 7, prompt_tokens_details: null },
    counts: told(40, 7),
  },
  {
    of: 'LiteLLM in front of Claude',
    usage: {
      ...{ prompt_tokens: 1300, completion_tokens: 10, total_tokens: 1310 },
      ...{ cache_creation_input_tokens: 200, cache_read_input_tokens: 1000 },
      prompt_tokens_details: { cached_tokens: 1000 },
    },
    counts: told(1300, 10, { cached: 1000, written: 200 }),
  },
];

const responses: readonly RecordedUsage[] = [
  {
    of: 'OpenAI (API reference, "Create a model response")',
    usage: {
      ...{ input_tokens: 328, input_tokens_details: { cached_tokens: 256 } },
      ...{ output_tokens: 52, output_tokens_details: { reasoning_tokens: 40 }, total_tokens: 380 },
    },
    counts: told(328, 52, { cached: 256, reasoning: 40 }),
  },
  {
    of: 'LM Studio and others, without details',
    usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
    counts: told(12, 5),
  },
  {
    of: 'gateways that keep the names of a chat',
    usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17, prompt_tokens_details: { cached_tokens: 4 } },
    counts: told(12, 5, { cached: 4 }),
  },
];

const anthropic: readonly RecordedUsage[] = [
  {
    of: 'Anthropic ("Prompt caching")',
    usage: {
      ...{ input_tokens: 2048, cache_read_input_tokens: 1800, cache_creation_input_tokens: 248, output_tokens: 503 },
      cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
      ...{ server_tool_use: { web_search_requests: 1 }, service_tier: 'standard' },
    },
    counts: told(4096, 503, { cached: 1800, written: 248, forAnHour: 100 }),
  },
  {
    of: 'Anthropic with thinking',
    usage: {
      ...{ input_tokens: 9, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 300 },
      ...{ output_tokens_details: { thinking_tokens: 250 }, service_tier: 'priority' },
    },
    counts: told(9, 300, { written: 0, forAnHour: 0, reasoning: 250 }),
  },
];

const gemini: readonly RecordedUsage[] = [
  {
    of: 'Google ("Thinking")',
    usage: {
      ...{ promptTokenCount: 10, candidatesTokenCount: 220, thoughtsTokenCount: 780, totalTokenCount: 1010 },
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
    },
    counts: told(10, 1000, { reasoning: 780 }),
  },
  {
    of: 'Google ("Context caching")',
    usage: {
      ...{ promptTokenCount: 696219, cachedContentTokenCount: 696190, candidatesTokenCount: 214 },
      ...{ totalTokenCount: 696433, cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 696190 }] },
      promptTokensDetails: [
        { modality: 'AUDIO', tokenCount: 696190 },
        { modality: 'TEXT', tokenCount: 29 },
      ],
    },
    counts: told(696219, 214, { cached: 696190 }),
  },
  {
    of: 'Vertex AI, with a tool of its own',
    usage: {
      ...{ promptTokenCount: 50, toolUsePromptTokenCount: 100, candidatesTokenCount: 30, totalTokenCount: 180 },
      ...{ trafficType: 'ON_DEMAND', toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 100 }] },
    },
    counts: told(150, 30),
  },
];

const converse: readonly RecordedUsage[] = [
  {
    of: 'AWS ("Converse")',
    usage: {
      ...{ inputTokens: 30, outputTokens: 628, totalTokens: 758, serverToolUsage: {} },
      ...{ cacheReadInputTokens: 70, cacheWriteInputTokens: 30, cacheDetails: [{ ttl: '1h', inputTokens: 30 }] },
    },
    counts: told(130, 628, { cached: 70, written: 30, forAnHour: 30 }),
  },
  {
    of: 'AWS, without a cache',
    usage: { inputTokens: 30, outputTokens: 628, totalTokens: 658 },
    counts: told(30, 628),
  },
];

export const recordedUsages: Record<Api, readonly RecordedUsage[]> = {
  chat,
  responses,
  anthropic,
  gemini,
  converse,
  'invoke-model': anthropic,
  'vertex-claude': anthropic,
  'vertex-gemini': gemini,
};
