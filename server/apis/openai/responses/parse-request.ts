/** Parses a request of `POST /v1/responses`. Source: OpenAI's API reference, "Create a model response". */

import { GatewayError } from '../../../contract/errors.ts';
import type { ClientApi } from '../../neutral/client-api.ts';
import type { AnswerFormat, Conversation, ReasoningRequest, Tool, ToolChoice } from '../../neutral/conversation.ts';
import { Fields } from '../../neutral/fields.ts';
import { invalid, type Losses, refuse } from '../../neutral/losses.ts';
import { ownToolName, ownToolOf } from './own-tools.ts';
import { parseInput } from './parse-input.ts';

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

/**
 * A request that continues a stored response must contain all items of the conversation in `input`.
 * @throws GatewayError `invalid_value` that names the field, or `previous_response_not_found`
 */
export function parseResponsesRequest(body: unknown, losses: Losses): Conversation {
  const fields = new Fields(body, '', losses);
  refuseState(fields);
  const { instructions, turns } = parseInput(fields);
  const instructionText = fields.text('instructions');
  const text = fields.fields('text');
  const include = fields.texts('include') ?? [];
  const conversation: Conversation = {
    client: responsesClient,
    model: fields.requiredText('model'),
    instructions: [
      ...(instructionText ? [{ type: 'text' as const, text: instructionText, at: 'instructions' }] : []),
      ...instructions,
    ],
    turns,
    tools: fields.items('tools').flatMap((tool) => parseTool(tool)),
    toolChoice: parseChoice(fields),
    parallelToolCalls: fields.boolean('parallel_tool_calls'),
    maxOutputTokens: fields.number('max_output_tokens'),
    sampling: {
      temperature: fields.number('temperature'),
      topP: fields.number('top_p'),
      topLogprobs: fields.number('top_logprobs'),
      logprobs: include.includes('message.output_text.logprobs') ? true : undefined,
    },
    stopSequences: [],
    format: parseFormat(text?.fields('format')),
    verbosity: text?.text('verbosity'),
    reasoning: parseReasoning(fields.fields('reasoning')),
    stream: fields.streamFlag('stream') ?? false,
    streamUsage: true,
    user: fields.text('safety_identifier') ?? fields.text('user'),
    cacheKey: fields.text('prompt_cache_key'),
    serviceTier: fields.text('service_tier'),
    metadata: fields.object('metadata'),
  };
  text?.dropRest();
  if (fields.text('truncation') === 'auto') fields.drop('no-equal', 'truncation');
  fields.ignore('user', 'store', 'stream_options', 'truncation', 'background');
  fields.drop('no-equal', 'max_tool_calls', 'context_management', 'prompt_cache_retention', 'prompt_cache_options');
  fields.dropRest();
  return conversation;
}

/** Refuses fields that depend on something stored at OpenAI. */
function refuseState(fields: Fields): void {
  const previous = fields.text('previous_response_id');
  if (previous !== undefined) {
    const message = `Previous response with id '${previous.slice(0, 100)}' not found.`;
    throw new GatewayError('previous_response_not_found', message, { param: 'previous_response_id' });
  }
  if (fields.any('conversation') !== undefined) refuse('conversation', 'no-equal');
  if (fields.any('prompt') !== undefined) refuse('prompt', 'no-equal');
  if (fields.boolean('background') === true) refuse('background', 'no-equal');
}

function parseTool(fields: Fields, namespace?: string): Tool[] {
  const type = fields.text('type') ?? 'function';
  const at = fields.at;
  if (type === 'namespace') {
    const name = fields.requiredText('name');
    fields.drop('no-equal', 'description');
    return fields.items('tools').flatMap((tool) => parseTool(tool, name));
  }
  if (type !== 'function' && type !== 'custom') return parseOwnTool(fields);
  const tool: Tool = {
    kind: type,
    name: fields.requiredText('name'),
    namespace,
    description: fields.text('description'),
    // Cursor sends Anthropic's tools too, without a type and with their schema in `input_schema`.
    schema: type === 'function' ? (fields.object('parameters') ?? fields.object('input_schema')) : undefined,
    strict: type === 'function' ? fields.boolean('strict') : undefined,
    format: type === 'custom' ? fields.object('format') : undefined,
    at,
  };
  fields.drop('no-equal', 'defer_loading');
  fields.dropRest();
  return [tool];
}

/** Tools that OpenAI's models know. Those that the client runs are offered as functions. */
function parseOwnTool(fields: Fields): Tool[] {
  const { at, losses, whole } = fields;
  const own = ownToolOf(whole);
  if (own === undefined) {
    losses.dropped(at, fields.runner === 'provider' ? 'provider-tool' : 'no-equal');
    return [];
  }
  losses.emulated(at, 'as-function');
  const { name, schema } = own;
  return [
    {
      kind: 'function',
      name,
      description: own.description(whole),
      schema,
      at,
      own: { ...whole, type: String(whole.type) },
    },
  ];
}

function parseChoice(fields: Fields): ToolChoice | undefined {
  const choice = fields.any('tool_choice');
  if (choice === undefined) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  const chosen = new Fields(choice, 'tool_choice', fields.losses);
  const type = chosen.requiredText('type');
  if (type === 'function' || type === 'custom') return { mode: 'named', name: chosen.requiredText('name') };
  const ownName = ownToolName(type);
  if (ownName !== undefined) return { mode: 'named', name: ownName };
  if (type !== 'allowed_tools') return refuse('tool_choice', 'provider-tool');
  const names = chosen.items('tools').map((tool) => ownToolName(tool.text('type')) ?? tool.requiredText('name'));
  return { mode: 'subset', names, isRequired: chosen.text('mode') === 'required' };
}

function parseFormat(fields: Fields | undefined): AnswerFormat | undefined {
  const type = fields?.text('type');
  if (fields === undefined || type === undefined || type === 'text') return undefined;
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') return invalid(fields.path('type'), 'it is not one of text, json_object, json_schema');
  return {
    kind: 'schema',
    name: fields.text('name') ?? 'answer',
    description: fields.text('description'),
    schema: fields.object('schema') ?? {},
    strict: fields.boolean('strict'),
  };
}

function parseReasoning(fields: Fields | undefined): ReasoningRequest | undefined {
  if (fields === undefined) return undefined;
  const effort = fields.text('effort');
  const summary = fields.text('summary') ?? fields.text('generate_summary');
  fields.drop('no-equal', 'context', 'mode');
  fields.dropRest();
  const isVisible = summary === undefined ? undefined : summary !== 'none';
  return effort === undefined && isVisible === undefined ? undefined : { effort, isVisible };
}
