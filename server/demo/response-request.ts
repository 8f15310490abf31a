/** Reads the body of a response. */
import { isObject } from '../contract/is-object.ts';
import type { Conversation, Turn } from './conversation.ts';
import { DemoError, invalidType, missingParameter } from './demo-error.ts';
import { newId } from './ids.ts';
import { modelOf } from './models.ts';
import type { JsonObject, Parameters } from './parameters.ts';
import { asksToThink, readContent, readMessage, readSchema, readToolChoice, readTools } from './read-conversation.ts';

export interface ResponseRequest {
  model: string;
  conversation: Conversation;
  /** The turns to store: all except the instructions. */
  turns: readonly Turn[];
  inputItems: readonly (JsonObject & { id: string })[];
  maxOutputTokens: number;
  stream: boolean;
  background: boolean;
  store: boolean;
  /** Settings that the response object repeats. */
  echo: JsonObject;
}

interface EarlierResponses {
  find(id: string): { turns: readonly Turn[] } | undefined;
}

export function readResponseRequest(parameters: Parameters, store: EarlierResponses): ResponseRequest {
  const model = modelOf(parameters, 'responses');
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
  return {
    turns: [...system, ...turns],
    tools: readTools(parameters.list('tools')),
    toolChoice: readToolChoice(parameters.raw('tool_choice')),
    allowsParallelCalls: parameters.raw('parallel_tool_calls') !== false,
    schema: readSchema(parameters.object('text')?.format),
    thinks: asksToThink(parameters.object('reasoning')?.effort),
  };
}

/** Adds an id to every item, and converts every content to a list of parts. */
function readInputItems(parameters: Parameters): (JsonObject & { id: string })[] {
  const input = parameters.raw('input');
  if (input === undefined) throw missingParameter('input');
  const items: unknown = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(items) || !items.every(isObject)) throw invalidType('input', 'a string or an array of items');
  return items.map((item) => {
    if (item.type !== undefined && item.type !== 'message') return { id: newId('item_'), ...item };
    const type = item.role === 'assistant' ? 'output_text' : 'input_text';
    const content = typeof item.content === 'string' ? [{ type, text: item.content }] : item.content;
    return { id: newId('msg_'), status: 'completed', ...item, type: 'message', content };
  });
}

/** Messages, compactions and tool results; other items, such as reasoning, add nothing to the conversation. */
function readTurn(item: JsonObject, index: number): Turn[] {
  if (item.type === 'message') return [readMessage(item, `input[${index}]`)];
  if (item.type === 'compaction') {
    const text = Buffer.from(String(item.encrypted_content), 'base64').toString('utf8');
    return [{ role: 'system', text, attachments: [] }];
  }
  const isResult = item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
  return isResult ? [{ role: 'tool', ...readContent(item.output) }] : [];
}

function readEcho(parameters: Parameters): JsonObject {
  const setting = (name: string, fallback: unknown) => parameters.raw(name) ?? fallback;
  return {
    instructions: setting('instructions', null),
    max_output_tokens: setting('max_output_tokens', null),
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
    top_p: setting('top_p', 1),
    truncation: setting('truncation', 'disabled'),
  };
}
