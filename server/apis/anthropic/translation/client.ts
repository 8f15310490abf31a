/** Anthropic's API as clients of `POST /v1/messages` use it. */
import type { ClientApi } from '../../neutral/client-api.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const cached = { cache_control: { type: 'ephemeral' } };

export const messagesClient: ClientApi = {
  wire: 'anthropic-messages',
  fieldNames: {
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
  callIds: 'anthropic',
  hasSealedCalls: false,
  takesLateSeals: false,
  callMark: 'tool_use',
  resultId: 'tool_use_id',
  hasRefusals: false,
  hasCitations: false,
  wantsWholeArguments: true,
  specimen: {
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
};
