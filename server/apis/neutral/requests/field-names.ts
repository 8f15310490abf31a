/** The names of a conversation's fields in each client API, so that losses are reported in the client's terms. */
import type { WireName } from '../neutral.ts';

export type FieldName =
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'answers'
  | 'logprobs'
  | 'logitBias'
  | 'maxOutputTokens'
  | 'stopSequences'
  | 'format'
  | 'reasoning'
  | 'verbosity'
  | 'toolChoice'
  | 'strictTool'
  | 'parallelToolCalls'
  | 'user'
  | 'cacheKey'
  | 'serviceTier'
  | 'metadata'
  | 'messages';

const openai = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  user: 'safety_identifier',
  cacheKey: 'prompt_cache_key',
  serviceTier: 'service_tier',
  metadata: 'metadata',
  logprobs: 'logprobs',
};

const names: Record<WireName, Partial<Record<FieldName, string>>> = {
  'openai-chat': {
    ...openai,
    seed: 'seed',
    presencePenalty: 'presence_penalty',
    frequencyPenalty: 'frequency_penalty',
    answers: 'n',
    logitBias: 'logit_bias',
    maxOutputTokens: 'max_completion_tokens',
    stopSequences: 'stop',
    format: 'response_format',
    strictTool: 'tools[].function.strict',
    reasoning: 'reasoning_effort',
    verbosity: 'verbosity',
    messages: 'messages',
  },
  'openai-responses': {
    ...openai,
    logprobs: 'top_logprobs',
    maxOutputTokens: 'max_output_tokens',
    format: 'text.format',
    strictTool: 'tools[].strict',
    reasoning: 'reasoning',
    verbosity: 'text.verbosity',
    messages: 'input',
  },
  'anthropic-messages': {
    temperature: 'temperature',
    topP: 'top_p',
    topK: 'top_k',
    maxOutputTokens: 'max_tokens',
    stopSequences: 'stop_sequences',
    format: 'output_config.format',
    strictTool: 'tools[].strict',
    reasoning: 'thinking',
    toolChoice: 'tool_choice',
    parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
    user: 'metadata.user_id',
    cacheKey: 'metadata.user_id',
    serviceTier: 'service_tier',
    messages: 'messages',
  },
  'gemini-generate': {
    temperature: 'generationConfig.temperature',
    topP: 'generationConfig.topP',
    topK: 'generationConfig.topK',
    seed: 'generationConfig.seed',
    presencePenalty: 'generationConfig.presencePenalty',
    frequencyPenalty: 'generationConfig.frequencyPenalty',
    answers: 'generationConfig.candidateCount',
    logprobs: 'generationConfig.responseLogprobs',
    maxOutputTokens: 'generationConfig.maxOutputTokens',
    stopSequences: 'generationConfig.stopSequences',
    format: 'generationConfig.responseMimeType',
    reasoning: 'generationConfig.thinkingConfig',
    toolChoice: 'toolConfig.functionCallingConfig',
    serviceTier: 'serviceTier',
    messages: 'contents',
  },
};

export function fieldNameOf(wire: WireName, field: FieldName): string {
  return names[wire][field] ?? field;
}
