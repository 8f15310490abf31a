/**
 * A sample request of each API with the fields that another API may lack. Translating it shows what a route would lose
 * before there is a request. Fields that change the meaning of the answer are not included, because a request with
 * those is refused.
 */
import type { WireName } from '../neutral/neutral.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const cached = { cache_control: { type: 'ephemeral' } };

export const specimens: Record<WireName, Readonly<Record<string, unknown>>> = {
  'openai-chat': {
    model: 'model',
    messages: [{ role: 'user', content: 'Hello', name: 'user' }],
    tools: [
      { type: 'function', function: { name: 'read', parameters: schema, strict: true } },
      { type: 'custom', custom: { name: 'patch' } },
    ],
    parallel_tool_calls: false,
    max_completion_tokens: 1_000,
    temperature: 0.5,
    top_p: 0.9,
    seed: 1,
    presence_penalty: 0.5,
    frequency_penalty: 0.5,
    logprobs: true,
    logit_bias: { 1: 1 },
    stop: ['END'],
    response_format: { type: 'json_object' },
    reasoning_effort: 'high',
    verbosity: 'low',
    service_tier: 'flex',
    metadata: { name: 'value' },
    prediction: { type: 'content', content: 'Hello' },
    web_search_options: {},
  },
  'openai-responses': {
    model: 'model',
    input: 'Hello',
    tools: [
      { type: 'function', name: 'read', parameters: schema, strict: true },
      { type: 'custom', name: 'patch' },
      { type: 'web_search' },
    ],
    parallel_tool_calls: false,
    max_output_tokens: 1_000,
    max_tool_calls: 5,
    temperature: 0.5,
    top_p: 0.9,
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    reasoning: { effort: 'high', summary: 'auto' },
    truncation: 'auto',
    service_tier: 'flex',
    metadata: { name: 'value' },
  },
  'anthropic-messages': {
    model: 'model',
    max_tokens: 1_000,
    system: [{ type: 'text', text: 'Be kind.', ...cached }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', ...cached }] }],
    tools: [
      { name: 'read', input_schema: schema, ...cached },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    stop_sequences: ['END'],
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    service_tier: 'auto',
    context_management: {},
    mcp_servers: [],
    container: 'container',
  },
  'gemini-generate': {
    contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    tools: [{ functionDeclarations: [{ name: 'read', parameters: schema }] }, { googleSearch: {} }],
    generationConfig: {
      maxOutputTokens: 1_000,
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      seed: 1,
      presencePenalty: 0.5,
      frequencyPenalty: 0.5,
      stopSequences: ['END'],
      responseMimeType: 'application/json',
      thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
    },
    safetySettings: [],
  },
};
