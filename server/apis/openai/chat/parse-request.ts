/** Parses a request of `POST /v1/chat/completions`. Source: OpenAI's API reference, "Create chat completion". */
import type { ClientApi } from '../../neutral/client-api.ts';
import type { AnswerFormat, Conversation, Sampling, Tool, ToolChoice } from '../../neutral/conversation.ts';
import { Fields } from '../../neutral/fields.ts';
import { invalid, type Losses, refuse } from '../../neutral/losses.ts';
import { openaiFieldNames } from '../responses/parse-request.ts';
import { largestLimit } from '../usage/output-limit.ts';
import { parseMessages } from './parse-messages.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } };

/** OpenAI's API as clients of `POST /v1/chat/completions` use it. */
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

/**
 * @throws GatewayError `invalid_value` that names the field, if it is invalid or cannot be expressed in any other API
 */
export function parseChatRequest(body: unknown, losses: Losses): Conversation {
  const fields = new Fields(body, '', losses);
  const conversation: Conversation = {
    client: chatClient,
    model: fields.requiredText('model'),
    ...parseMessages(fields),
    tools: [...fields.items('tools').flatMap(parseTool), ...fields.items('functions').map(parseFunction)],
    toolChoice: parseToolChoice(fields),
    parallelToolCalls: fields.boolean('parallel_tool_calls'),
    maxOutputTokens: largestLimit([fields.number('max_completion_tokens'), fields.number('max_tokens')]),
    sampling: parseSampling(fields),
    stopSequences: parseStop(fields),
    format: parseFormat(fields.fields('response_format')),
    reasoning: parseReasoning(fields),
    verbosity: fields.text('verbosity'),
    stream: fields.streamFlag('stream') ?? false,
    streamUsage: parseStreamUsage(fields),
    user: fields.text('safety_identifier') ?? fields.text('user'),
    cacheKey: fields.text('prompt_cache_key'),
    serviceTier: fields.text('service_tier'),
    metadata: fields.object('metadata'),
  };
  refuseSound(fields);
  fields.ignore('user', 'store');
  fields.drop('no-equal', 'prediction', 'moderation', 'prompt_cache_options', 'prompt_cache_retention');
  fields.drop('provider-tool', 'web_search_options');
  fields.dropRest();
  return conversation;
}

/** A client that asks for audio cannot use an answer without it. */
function refuseSound(fields: Fields): void {
  if (fields.texts('modalities')?.includes('audio')) refuse('modalities', 'media');
  fields.drop('media', 'audio');
}

/** Services have tools of their own, such as `openrouter:web_search`, which they run themselves. */
function parseTool(fields: Fields): Tool[] {
  const type = fields.text('type') ?? 'function';
  if (type === 'custom') return [parseCustom(fields)];
  if (type !== 'function') {
    fields.losses.dropped(fields.at, 'provider-tool');
    return [];
  }
  const tool = parseFunction(fields.fields('function') ?? invalid(fields.path('function'), 'it is missing'));
  fields.dropRest();
  return [{ ...tool, at: fields.at }];
}

function parseFunction(fields: Fields): Tool {
  const tool: Tool = {
    kind: 'function',
    name: fields.requiredText('name'),
    description: fields.text('description'),
    schema: fields.object('parameters'),
    strict: fields.boolean('strict'),
    at: fields.at,
  };
  fields.dropRest();
  return tool;
}

function parseCustom(fields: Fields): Tool {
  const custom = fields.fields('custom') ?? invalid(fields.path('custom'), 'it is missing');
  const tool: Tool = {
    kind: 'custom',
    name: custom.requiredText('name'),
    description: custom.text('description'),
    format: flatFormat(custom.object('format')),
    at: fields.at,
  };
  custom.dropRest();
  return tool;
}

/** Chat nests the grammar one level deeper than Responses: `{type, grammar: {syntax, definition}}`. */
function flatFormat(format: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  if (format === undefined) return undefined;
  const { grammar, ...rest } = format;
  return typeof grammar === 'object' ? { ...rest, ...grammar } : rest;
}

function parseToolChoice(fields: Fields): ToolChoice | undefined {
  const choice = fields.any('tool_choice') ?? fields.any('function_call');
  if (choice === undefined) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  // Mistral's name for it.
  if (choice === 'any') return { mode: 'required' };
  const choiceFields = new Fields(choice, 'tool_choice', fields.losses);
  const allowed = choiceFields.fields('allowed_tools');
  if (allowed) {
    const names = allowed.items('tools').map(nameOfChoice);
    return { mode: 'subset', names, isRequired: allowed.text('mode') === 'required' };
  }
  return { mode: 'named', name: nameOfChoice(choiceFields) };
}

function nameOfChoice(choice: Fields): string {
  const inner = choice.fields('function') ?? choice.fields('custom') ?? choice;
  return inner.requiredText('name');
}

function parseSampling(fields: Fields): Sampling {
  return {
    temperature: fields.number('temperature'),
    topP: fields.number('top_p'),
    topK: fields.number('top_k'),
    seed: fields.number('seed'),
    presencePenalty: fields.number('presence_penalty'),
    frequencyPenalty: fields.number('frequency_penalty'),
    answers: fields.number('n'),
    logprobs: fields.boolean('logprobs'),
    topLogprobs: fields.number('top_logprobs'),
    logitBias: fields.object('logit_bias'),
  };
}

function parseStop(fields: Fields): string[] {
  const stop = fields.any('stop');
  if (typeof stop === 'string') return [stop];
  return fields.texts('stop') ?? [];
}

function parseFormat(fields: Fields | undefined): AnswerFormat | undefined {
  const type = fields?.text('type');
  if (fields === undefined || type === undefined || type === 'text') return undefined;
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') return refuse(fields.path('type'), 'no-equal');
  const schema = fields.fields('json_schema') ?? invalid(fields.path('json_schema'), 'it is missing');
  return {
    kind: 'schema',
    name: schema.text('name') ?? 'answer',
    description: schema.text('description'),
    schema: schema.object('schema') ?? {},
    strict: schema.boolean('strict'),
  };
}

/** OpenRouter's `reasoning: {effort, max_tokens}` is as common as OpenAI's own field. */
function parseReasoning(fields: Fields): Conversation['reasoning'] {
  const effort = fields.text('reasoning_effort');
  const reasoning = fields.fields('reasoning');
  if (effort === undefined && reasoning === undefined) return undefined;
  return {
    effort: effort ?? reasoning?.text('effort'),
    budgetTokens: effort === undefined ? reasoning?.number('max_tokens') : undefined,
  };
}

function parseStreamUsage(fields: Fields): boolean {
  const options = fields.fields('stream_options');
  options?.ignore('include_obfuscation');
  return options?.boolean('include_usage') ?? false;
}
