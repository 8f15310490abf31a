/** OpenAI's API as clients of `POST /v1/chat/completions` use it. */
import type { ClientApi } from '../../neutral/client-api.ts';
import { openaiFieldNames } from '../responses/client.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } };

export const chatClient: ClientApi = {
  wire: 'openai-chat',
  fieldNames: {
    ...openaiFieldNames,
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
  callIds: 'openai',
  hasSealedCalls: true,
  takesLateSeals: true,
  callMark: 'tool_calls',
  resultId: 'tool_call_id',
  hasRefusals: true,
  hasCitations: true,
  wantsWholeArguments: false,
  specimen: {
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
};
