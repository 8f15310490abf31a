/** Reads the body of a response; refuses what OpenAI refuses. */
import { isObject } from '../contract/is-object.ts';
import { type Conversation, readFormat, readToolChoice, type Tool, type Turn } from './conversation.ts';
import { DemoError, invalidType, invalidValue, missingParameter, unsupportedParameter } from './demo-error.ts';
import { newId } from './ids.ts';
import { modelOf } from './models.ts';
import type { JsonObject, Parameters } from './parameters.ts';

export interface ResponseRequest {
  model: string;
  conversation: Conversation;
  /** The conversation's turns that are to be remembered: all but the instructions. */
  turns: readonly Turn[];
  inputItems: readonly JsonObject[];
  maxOutputTokens: number;
  stream: boolean;
  background: boolean;
  store: boolean;
  /** Settings that the response object repeats. */
  echo: JsonObject;
}

const roles: Readonly<Record<string, Turn['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

interface EarlierResponses {
  find(id: string): { turns: readonly Turn[] } | undefined;
}

export function readResponseRequest(parameters: Parameters, store: EarlierResponses): ResponseRequest {
  const model = modelOf(parameters, 'responses');
  for (const name of ['conversation', 'prompt']) {
    if (parameters.raw(name) !== undefined) throw unsupportedParameter(name, 'The demo provider keeps no such object.');
  }
  const inputItems = readInputItems(parameters);
  const turns = [...earlierTurns(parameters, store), ...inputItems.flatMap(readTurn)];
  return {
    model,
    conversation: readConversation(parameters, turns),
    turns,
    inputItems,
    maxOutputTokens: parameters.integer('max_output_tokens', { min: 16, max: Number.MAX_SAFE_INTEGER }) ?? Infinity,
    stream: parameters.boolean('stream'),
    background: parameters.boolean('background'),
    store: parameters.raw('store') !== false,
    echo: readEcho(parameters),
  };
}

function earlierTurns(parameters: Parameters, store: EarlierResponses): readonly Turn[] {
  const id = parameters.string('previous_response_id');
  if (id === undefined) return [];
  const previous = store.find(id);
  if (previous) return previous.turns;
  const message = `Previous response with id '${id}' not found.`;
  throw new DemoError({ status: 400, code: 'previous_response_not_found', param: 'previous_response_id', message });
}

function readConversation(parameters: Parameters, turns: readonly Turn[]): Conversation {
  const instructions = parameters.string('instructions');
  const system: Turn[] = instructions ? [{ role: 'system', text: instructions, attachments: [] }] : [];
  const text = parameters.object('text');
  const format = isObject(text?.format) ? text.format : {};
  if (format.type === 'json_schema' && typeof format.name !== 'string') throw missingParameter('text.format.name');
  return {
    turns: [...system, ...turns],
    tools: parameters.list('tools').flatMap(readTool),
    toolChoice: readToolChoice(parameters.raw('tool_choice')),
    allowsParallelCalls: parameters.raw('parallel_tool_calls') !== false,
    format: readFormat(format.type, format.schema, 'text.format'),
  };
}

/** Functions and custom tools; hosted ones, such as a web search, are accepted and never used. */
function readTool(tool: unknown, index: number): Tool[] {
  if (!isObject(tool)) throw invalidType(`tools[${index}]`, 'an object');
  if (tool.type !== 'function' && tool.type !== 'custom') return [];
  if (typeof tool.name !== 'string') throw missingParameter(`tools[${index}].name`);
  return [{ kind: tool.type, name: tool.name, schema: tool.parameters }];
}

/** Input in its long form: every item with an id, every content a list of parts. */
function readInputItems(parameters: Parameters): JsonObject[] {
  const input = parameters.raw('input');
  if (input === undefined) throw missingParameter('input');
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(items)) throw invalidType('input', 'a string or an array of items');
  return items.map(readInputItem);
}

function readInputItem(item: unknown, index: number): JsonObject {
  const where = `input[${index}]`;
  if (!isObject(item)) throw invalidType(where, 'an object');
  if (item.type !== undefined && item.type !== 'message') return { id: newId('item_'), ...item };
  if (!Object.hasOwn(roles, String(item.role))) {
    throw invalidValue(`${where}.role`, `use one of ${Object.keys(roles).join(', ')}`);
  }
  return { id: newId('msg_'), status: 'completed', ...item, type: 'message', content: readContent(item, where) };
}

function readContent(item: JsonObject, where: string): readonly unknown[] {
  if (Array.isArray(item.content)) return item.content;
  if (typeof item.content !== 'string') throw missingParameter(`${where}.content`);
  return [{ type: item.role === 'assistant' ? 'output_text' : 'input_text', text: item.content }];
}

/** What an item adds to the conversation; reasoning, references and hosted tools' items add nothing. */
function readTurn(item: JsonObject): Turn[] {
  if (item.type === 'message') return [{ role: roles[String(item.role)] ?? 'user', ...readParts(item.content) }];
  if (item.type === 'compaction') return [{ role: 'system', text: compactedText(item), attachments: [] }];
  const isOutput = item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
  if (!isOutput) return [];
  if (typeof item.output === 'string') return [{ role: 'tool', text: item.output, attachments: [] }];
  return [{ role: 'tool', ...readParts(item.output) }];
}

/** The text that `/responses/compact` put away in the item. */
function compactedText(item: JsonObject): string {
  return Buffer.from(String(item.encrypted_content), 'base64').toString('utf8');
}

function readParts(content: unknown): Pick<Turn, 'text' | 'attachments'> {
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  const texts = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
  const attachments = parts.flatMap((part) => {
    if (part.type === 'input_image') return ['an image'];
    return part.type === 'input_file' ? ['a file'] : [];
  });
  return { text: texts.join('\n'), attachments };
}

function readEcho(parameters: Parameters): JsonObject {
  const setting = (name: string, otherwise: unknown) => parameters.raw(name) ?? otherwise;
  return {
    instructions: setting('instructions', null),
    max_output_tokens: setting('max_output_tokens', null),
    max_tool_calls: setting('max_tool_calls', null),
    metadata: setting('metadata', {}),
    parallel_tool_calls: setting('parallel_tool_calls', true),
    previous_response_id: setting('previous_response_id', null),
    reasoning: setting('reasoning', { effort: null, summary: null }),
    service_tier: 'default',
    store: setting('store', true),
    temperature: setting('temperature', 1),
    text: { format: { type: 'text' }, verbosity: 'medium', ...parameters.object('text') },
    tool_choice: setting('tool_choice', 'auto'),
    tools: setting('tools', []),
    top_logprobs: setting('top_logprobs', 0),
    top_p: setting('top_p', 1),
    truncation: setting('truncation', 'disabled'),
    user: setting('user', null),
  };
}
