/** Parses a request of `POST /v1/responses`. Source: OpenAI's API reference, "Create a model response". */
import { GatewayError } from '../../../contract/errors.ts';
import type { ClientApi } from '../../neutral/client-api.ts';
import {
  type AnswerFormat,
  addSystem,
  type CallPart,
  type Conversation,
  type MediaPart,
  type MediaSource,
  type Part,
  type ReasoningRequest,
  type RefusalPart,
  type ResultPart,
  type TextPart,
  type ThinkingPart,
  type Tool,
  type ToolChoice,
  type Turn,
} from '../../neutral/conversation.ts';
import { Fields } from '../../neutral/fields.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { invalid, type Losses, refuse } from '../../neutral/losses.ts';
import { kindOfMediaType, sourceOfData, sourceOfUrl } from '../../neutral/media.ts';
import { unwrapSeal } from '../../neutral/requests/carried-reasoning.ts';
import { ownCallInput, ownToolName, ownToolOf } from './own-tools.ts';

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

/** Parses the items of a Responses request into instructions and turns. */
function parseInput(request: Fields): Pick<Conversation, 'instructions' | 'turns'> {
  const input = request.any('input') ?? invalid('input', 'it is missing');
  if (typeof input === 'string') {
    return { instructions: [], turns: [{ role: 'user', parts: [{ type: 'text', text: input, at: 'input' }] }] };
  }
  const items = request.items('input');
  if (items.length === 0) invalid('input', 'expected at least one item');
  const reading: Reading = { instructions: [], turns: [], callIds: callIdsOf(items) };
  for (const item of items) takeItem(item, reading);
  return { instructions: reading.instructions, turns: reading.turns };
}

interface Reading {
  instructions: TextPart[];
  turns: Turn[];
  callIds: ReadonlyMap<unknown, string>;
}

/** By the id of its item, the id of each call: OpenAI's types have only the former in the result of a local shell. */
function callIdsOf(items: readonly Fields[]): Map<unknown, string> {
  const calls = items.map(({ whole }) => whole).filter(({ type }) => type === 'local_shell_call');
  return new Map(calls.flatMap(({ id, call_id: callId }) => (typeof callId === 'string' ? [[id, callId]] : [])));
}

function takeItem(item: Fields, reading: Reading): void {
  const { turns } = reading;
  const type = item.text('type') ?? 'message';
  const callId = callIdOf(item, type, reading);
  if (type === 'message') takeMessage(item, reading);
  else if (type === 'reasoning') add(turns, 'assistant', parseReasoningItem(item));
  else if (type === 'item_reference') refuse(item.at, 'provider-item');
  else if (type.endsWith('_output') && callId !== undefined) add(turns, 'user', parseResult(item, callId));
  else if (type.endsWith('_call') && callId !== undefined) add(turns, 'assistant', parseCall(item, type));
  else {
    add(turns, 'assistant', parseProviderItem(item, type));
    return;
  }
  item.ignore('id', 'status', 'phase');
  item.dropRest();
}

function callIdOf(item: Fields, type: string, { callIds }: Reading): string | undefined {
  const id = item.text('call_id');
  if (id !== undefined || type !== 'local_shell_call_output') return id;
  return callIds.get(item.any('id')) ?? item.text('id');
}

function takeMessage(item: Fields, { instructions, turns }: Reading): void {
  const role = item.requiredText('role');
  const parts = parseContent(item);
  if (role === 'system' || role === 'developer') {
    addSystem({ instructions, turns }, parts, item.losses);
  } else if (role === 'user') turns.push({ role, parts });
  else if (role === 'assistant') for (const part of parts) add(turns, role, part);
  else invalid(item.path('role'), `'${role.slice(0, 40)}' is not a valid role`);
}

/** Consecutive items of the assistant form one turn, and so do the results of its calls. */
function add(turns: Turn[], role: 'user' | 'assistant', part: Part): void {
  const before = turns.at(-1);
  const isSame = before?.role === role && (role === 'assistant' || before.parts.at(-1)?.type === 'result');
  if (isSame) before.parts.push(part);
  else turns.push({ role, parts: [part] });
}

function parseContent(fields: Fields): (TextPart | RefusalPart | MediaPart)[] {
  const content = fields.any('content');
  if (content === undefined) return [];
  if (typeof content === 'string')
    return content === '' ? [] : [{ type: 'text', text: content, at: fields.path('content') }];
  return fields.items('content').map(parsePart);
}

function parsePart(part: Fields): TextPart | RefusalPart | MediaPart {
  const type = part.requiredText('type');
  const at = part.at;
  if (type === 'refusal') return { type, text: part.requiredText('refusal'), at };
  if (type === 'input_image') {
    return { type: 'media', kind: 'image', source: sourceOf(part, ['image_url']), detail: part.text('detail'), at };
  }
  if (type === 'input_file') {
    const source = sourceOf(part, ['file_data', 'file_url']);
    const kind = source.type === 'base64' ? kindOfMediaType(source.mediaType) : 'document';
    return { type: 'media', kind, source, name: part.text('filename'), at };
  }
  if (type !== 'input_text' && type !== 'output_text' && type !== 'text') {
    return invalid(part.path('type'), `'${type.slice(0, 40)}' is no type of content`);
  }
  return { type: 'text', text: part.requiredText('text'), at };
}

function sourceOf(part: Fields, names: readonly string[]): MediaSource {
  const id = part.text('file_id');
  if (id !== undefined) return { type: 'file', id };
  const url = names.map((name) => part.text(name)).find((value) => value !== undefined);
  return sourceOfUrl(url ?? invalid(part.path(names[0] ?? ''), 'it is missing'));
}

/** Open models return the text of their reasoning, OpenAI's own a summary. */
function parseReasoningItem(item: Fields): ThinkingPart {
  const texts = [...item.items('summary'), ...item.items('content')].map((part) => part.text('text') ?? '');
  const encrypted = item.text('encrypted_content');
  const seal = encrypted === undefined ? undefined : unwrapSeal(encrypted, 'encrypted');
  return { type: 'thinking', text: texts.join('\n\n'), seal, at: item.at };
}

function parseCall(item: Fields, type: string): CallPart {
  const id = item.requiredText('call_id');
  const at = item.at;
  if (type === 'function_call' || type === 'custom_tool_call') {
    const isCustom = type === 'custom_tool_call';
    const callArguments = item.text(isCustom ? 'input' : 'arguments') ?? '';
    const kind = isCustom ? 'custom' : 'function';
    const namespace = item.text('namespace');
    return { type: 'call', id, name: item.requiredText('name'), namespace, arguments: callArguments, kind, at };
  }
  item.losses.emulated(at, 'as-function');
  item.ignore('arguments', 'action', 'actions', 'operation', 'environment', 'pending_safety_checks');
  const input = ownCallInput(item.whole);
  const callArguments = typeof input === 'string' ? input : writeJson(input);
  return { type: 'call', id, name: type.slice(0, -'_call'.length), arguments: callArguments, kind: 'function', at };
}

function parseResult(item: Fields, callId: string): ResultPart {
  const isError = item.text('type') === 'apply_patch_call_output' && item.text('status') === 'failed';
  item.ignore('max_output_length', 'acknowledged_safety_checks');
  return { type: 'result', callId, parts: parseOutput(item), isError, at: item.at };
}

/** Accepts a string, a list of content parts or, for one of OpenAI's own tools, an object. */
function parseOutput(item: Fields): ResultPart['parts'] {
  const screenshot = parseScreenshot(item);
  if (screenshot) return [screenshot];
  const output = item.any('output') ?? item.any('tools') ?? '';
  const at = item.path('output');
  if (typeof output === 'string') return output === '' ? [] : [{ type: 'text', text: output, at }];
  const isContent = item.text('type') === 'function_call_output' || item.text('type') === 'custom_tool_call_output';
  if (!isContent) return [{ type: 'text', text: writeJson(output), at }];
  return item.items('output').map((each) => {
    const part = parsePart(each);
    return part.type === 'refusal' ? { ...part, type: 'text' } : part;
  });
}

/** The field of each item type that contains its results. Other items contain nothing that a model could read. */
const outputNames: Readonly<Record<string, string>> = {
  code_interpreter_call: 'outputs',
  file_search_call: 'results',
  mcp_call: 'output',
};

/**
 * Converts items of tools that OpenAI runs itself into parts that any model can read. Other APIs have no calls of such
 * tools, but the results are part of the conversation. Source: OpenAI's API reference, "Create a model response",
 * `input`.
 *
 * @throws GatewayError `invalid_value` for a compacted history, which only OpenAI can decrypt
 */
function parseProviderItem(item: Fields, type: string): Part {
  const { at } = item;
  if (type.startsWith('compaction')) refuse(at, 'provider-item');
  const image = type === 'image_generation_call' ? item.text('result') : undefined;
  if (image !== undefined) {
    const source = sourceOfData(`image/${item.text('output_format') ?? 'png'}`, image);
    return { type: 'media', kind: 'image', source, at };
  }
  const name = Object.hasOwn(outputNames, type) ? outputNames[type] : undefined;
  const output = name === undefined ? undefined : item.any(name);
  if (output === undefined) return { type: 'foreign', name: type, at };
  item.losses.emulated(at, 'as-text');
  const result = typeof output === 'string' ? output : writeJson(output);
  return { type: 'text', isApart: true, text: `Result of ${type.slice(0, -'_call'.length)}:\n${result}`, at };
}

/** Reads the screenshot from the output of a computer call; undefined for any other output. */
function parseScreenshot(item: Fields): MediaPart | undefined {
  if (item.text('type') !== 'computer_call_output') return undefined;
  const output = item.fields('output');
  const at = item.path('output');
  const id = output?.text('file_id');
  if (id !== undefined) return { type: 'media', kind: 'image', source: { type: 'file', id }, at };
  const url = output?.text('image_url');
  if (url === undefined) return undefined;
  const source = sourceOfUrl(url);
  return { type: 'media', kind: source.type === 'base64' ? kindOfMediaType(source.mediaType) : 'image', source, at };
}
