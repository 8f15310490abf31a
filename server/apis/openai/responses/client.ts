/** OpenAI's API as clients of `POST /v1/responses` use it. */
import type { ClientApi } from '../../neutral/client-api.ts';

/** The names that this API has in common with chat completions. */
export const openaiFieldNames = {
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

const schema = { type: 'object', properties: { path: { type: 'string' } } };

export const responsesClient: ClientApi = {
  wire: 'openai-responses',
  fieldNames: {
    ...openaiFieldNames,
    logprobs: 'top_logprobs',
    maxOutputTokens: 'max_output_tokens',
    format: 'text.format',
    strictTool: 'tools[].strict',
    reasoning: 'reasoning',
    verbosity: 'text.verbosity',
    messages: 'input',
  },
  callIds: 'openai',
  hasSealedCalls: false,
  takesLateSeals: false,
  callMark: 'function_call',
  resultId: 'call_id',
  hasRefusals: true,
  hasCitations: true,
  wantsWholeArguments: false,
  specimen: {
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
};
