/** Parses a request of `POST /v1/chat/completions`. Source: OpenAI's API reference, "Create chat completion". */
import type { ClientApi } from '../../neutral/client-api.ts';
import {
  type AnswerFormat,
  addSystem,
  type CallPart,
  type Conversation,
  type MediaPart,
  type Part,
  type RefusalPart,
  type ResultPart,
  type Sampling,
  type TextPart,
  type ThinkingPart,
  type Tool,
  type ToolChoice,
  type Turn,
} from '../../neutral/conversation.ts';
import { Fields } from '../../neutral/fields.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { invalid, type Losses, refuse } from '../../neutral/losses.ts';
import { kindOfMediaType, sourceOfUrl } from '../../neutral/media.ts';
import { unwrapSeal, withThoughts } from '../../neutral/requests/carried-reasoning.ts';
import { openaiFieldNames } from '../responses/parse-request.ts';
import { largestLimit } from '../usage/usage.ts';

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

/** Parses the messages of a chat request into instructions and turns. */
function parseMessages(request: Fields): Pick<Conversation, 'instructions' | 'turns'> {
  const messages = request.items('messages');
  if (messages.length === 0) invalid('messages', 'expected at least one message');
  const instructions: TextPart[] = [];
  const turns: Turn[] = [];
  /** The call that a message of the deprecated role `function` answers. */
  let oldCallId = '';
  for (const message of messages) {
    const role = message.requiredText('role');
    if (role === 'system' || role === 'developer') {
      addSystem({ instructions, turns }, parseContent(message), message.losses);
    } else if (role === 'user') turns.push({ role, parts: parseContent(message) });
    else if (role === 'assistant') {
      const parts = parseAssistant(message);
      for (const part of parts) if (part.type === 'call') oldCallId = part.id;
      turns.push({ role, parts });
    } else if (role === 'tool' || role === 'function') addResult(turns, parseResult(message, oldCallId));
    else invalid(message.path('role'), `'${role.slice(0, 40)}' is not a valid role`);
    message.drop('no-equal', 'name', 'audio');
    // What an earlier answer cited says nothing to another model.
    message.ignore('annotations');
    message.dropRest();
  }
  return { instructions, turns };
}

/** The results of one turn's calls form one turn. */
function addResult(turns: Turn[], result: ResultPart): void {
  const before = turns.at(-1);
  if (before?.role === 'user' && before.parts.at(-1)?.type === 'result') before.parts.push(result);
  else turns.push({ role: 'user', parts: [result] });
}

function parseResult(message: Fields, oldCallId: string): ResultPart {
  const isOld = message.text('role') === 'function';
  if (isOld) message.ignore('name');
  const parts = parseContent(message).map((part) =>
    part.type === 'refusal' ? { ...part, type: 'text' as const } : part,
  );
  const callId = isOld ? oldCallId : message.requiredText('tool_call_id');
  return { type: 'result', callId, parts, isError: false, at: message.at };
}

function parseAssistant(message: Fields): Part[] {
  const refusal = message.text('refusal');
  const at = message.at;
  const said: Part[] = [
    ...parseContent(message, parseSpoken),
    ...(refusal === undefined ? [] : [{ type: 'refusal' as const, text: refusal, at: message.path('refusal') }]),
    ...message.items('tool_calls').map(parseCall),
    ...parseOldCall(message.fields('function_call'), at),
  ];
  const parts = withThoughts(said, parseThinking(message));
  // It refers to the audio content, which only OpenAI stores.
  if (parts.length === 0 && message.any('audio') !== undefined) refuse(message.path('audio'), 'foreign-file');
  return parts;
}

/**
 * `reasoning_details` (OpenRouter's notation) contain the seals that Sluice sent to the client, and `reasoning_content`
 * or `reasoning` the same as text.
 */
function parseThinking(message: Fields): ThinkingPart[] {
  const text = message.text('reasoning_content') ?? message.text('reasoning');
  message.ignore('reasoning');
  const details = distinct(message.items('reasoning_details').flatMap(parseDetail));
  if (details.length > 0 || !text) return details;
  return [{ type: 'thinking', text, at: message.path('reasoning_content') }];
}

/** Streams may tell a detail twice: see `ChatEventRenderer`. */
function distinct(thoughts: readonly ThinkingPart[]): ThinkingPart[] {
  const seals = new Set<string>();
  return thoughts.filter(({ seal }) => {
    if (!seal?.origin || seal.kind === 'plain') return true;
    const isNew = !seals.has(seal.data);
    seals.add(seal.data);
    return isNew;
  });
}

function parseDetail(detail: Fields): ThinkingPart[] {
  const text = detail.text('text') ?? detail.text('summary') ?? '';
  const signature = detail.text('signature');
  const data = detail.text('data');
  const at = detail.at;
  if (signature !== undefined) return [{ type: 'thinking', text, seal: unwrapSeal(signature, 'signature'), at }];
  if (data !== undefined) return [{ type: 'thinking', text, seal: unwrapSeal(data, 'encrypted'), at }];
  return text === '' ? [] : [{ type: 'thinking', text, at }];
}

function parseCall(call: Fields): CallPart {
  const id = call.text('id') ?? '';
  const custom = call.fields('custom');
  if (custom) {
    return {
      type: 'call',
      id,
      name: custom.requiredText('name'),
      arguments: textOf(custom, 'input'),
      kind: 'custom',
      at: call.at,
    };
  }
  const calledFunction = call.fields('function') ?? invalid(call.path('function'), 'it is missing');
  const signature = call.fields('extra_content')?.fields('google')?.text('thought_signature');
  return {
    type: 'call',
    id,
    name: calledFunction.requiredText('name'),
    arguments: textOf(calledFunction, 'arguments'),
    kind: 'function',
    seal: signature === undefined ? undefined : unwrapSeal(signature, 'thought-signature'),
    at: call.at,
  };
}

/** In Ollama's own API, and in clients written for it, the arguments are an object. */
function textOf(fields: Fields, name: string): string {
  const value = fields.any(name) ?? '';
  return typeof value === 'string' ? value : writeJson(value);
}

/** `function_call`, the predecessor of `tool_calls`, has no id. */
function parseOldCall(call: Fields | undefined, at: string): CallPart[] {
  if (!call) return [];
  const name = call.requiredText('name');
  return [{ type: 'call', id: `call_${at}`, name, arguments: textOf(call, 'arguments'), kind: 'function', at }];
}

type ContentPart = TextPart | MediaPart | RefusalPart;

/** Accepts a string or a list of parts. Empty if there is none. */
function parseContent(message: Fields): ContentPart[];
function parseContent<Found>(message: Fields, parse: (part: Fields) => Found): (Found | TextPart)[];
function parseContent(message: Fields, parse: (part: Fields) => unknown = parsePart): unknown[] {
  const content = message.any('content');
  const at = message.path('content');
  if (content === undefined) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content, at }];
  return message.items('content').map((part) => {
    const parsed = parse(part);
    part.dropRest();
    return parsed;
  });
}

/** Mistral's reasoning models write their thoughts as parts (Mistral docs, "Reasoning"). */
function parseSpoken(part: Fields): ContentPart | ThinkingPart {
  if (part.text('type') !== 'thinking') return parsePart(part);
  part.ignore('closed');
  const texts = part.items('thinking').map((chunk) => chunk.text('text') ?? '');
  return { type: 'thinking', text: texts.join(''), at: part.at };
}

function parsePart(part: Fields): ContentPart {
  const type = part.text('type') ?? 'text';
  const at = part.at;
  part.drop('no-equal', 'cache_control', 'prompt_cache_breakpoint');
  if (type === 'text') return { type, text: part.requiredText('text'), at };
  if (type === 'refusal') return { type, text: part.requiredText('refusal'), at };
  if (type === 'image_url') return parseImage(part);
  if (type === 'input_audio')
    return parseSound(part.fields('input_audio') ?? invalid(part.path(type), 'it is missing'), at);
  if (type === 'document_url') return parseDocument(part);
  if (type === 'file') return parseFile(part.fields('file') ?? invalid(part.path(type), 'it is missing'), at);
  return invalid(part.path('type'), `'${type.slice(0, 40)}' is no type of content`);
}

function parseImage(part: Fields): MediaPart {
  const url = part.any('image_url');
  if (typeof url === 'string') return { type: 'media', kind: 'image', source: sourceOfUrl(url), at: part.at };
  const image = part.fields('image_url') ?? invalid(part.path('image_url'), 'it is missing');
  const source = sourceOfUrl(image.requiredText('url'));
  return { type: 'media', kind: 'image', source, detail: image.text('detail'), at: part.at };
}

/** Mistral docs, "Document Q&A". */
function parseDocument(part: Fields): MediaPart {
  const source = sourceOfUrl(part.requiredText('document_url'));
  return { type: 'media', kind: 'document', source, name: part.text('document_name'), at: part.at };
}

function parseSound(sound: Fields, at: string): MediaPart {
  const mediaType = `audio/${sound.text('format') ?? 'wav'}`;
  return { type: 'media', kind: 'audio', source: { type: 'base64', mediaType, data: sound.requiredText('data') }, at };
}

function parseFile(file: Fields, at: string): MediaPart {
  const name = file.text('filename');
  const id = file.text('file_id');
  if (id !== undefined) return { type: 'media', kind: 'document', source: { type: 'file', id }, name, at };
  const source = sourceOfUrl(file.requiredText('file_data'));
  const kind = source.type === 'base64' ? kindOfMediaType(source.mediaType) : 'document';
  return { type: 'media', kind, source, name, at };
}
