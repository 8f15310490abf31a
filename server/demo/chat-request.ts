/** Reads the body of a chat completion; refuses what OpenAI refuses. */
import { isObject } from '../contract/is-object.ts';
import { type Conversation, readFormat, readToolChoice, type Tool, type Turn } from './conversation.ts';
import { DemoError, invalidType, invalidValue, missingParameter, unsupportedParameter } from './demo-error.ts';
import { modelOf } from './models.ts';
import type { JsonObject, Parameters } from './parameters.ts';

export interface ChatRequest {
  model: string;
  conversation: Conversation;
  choices: number;
  stop: readonly string[];
  maxTokens: number | undefined;
  stream: boolean;
  includeUsage: boolean;
}

const roles: Readonly<Record<string, Turn['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

const attachmentNames: Readonly<Record<string, string>> = {
  image_url: 'an image',
  input_audio: 'a sound',
  file: 'a file',
};

export function readChatRequest(parameters: Parameters): ChatRequest {
  const model = modelOf(parameters, 'chat');
  if (parameters.list('modalities').includes('audio')) {
    throw unsupportedParameter('modalities', 'The demo provider answers in text; for sound use /v1/audio/speech.');
  }
  const stream = parameters.boolean('stream');
  return {
    model,
    conversation: readConversation(parameters),
    choices: parameters.integer('n', { min: 1, max: 128 }) ?? 1,
    stop: readStop(parameters),
    maxTokens: readMaxTokens(parameters),
    stream,
    includeUsage: readIncludeUsage(parameters, stream),
  };
}

export function readStop(parameters: Parameters): readonly string[] {
  const value = parameters.raw('stop') ?? [];
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || list.length > 4 || !list.every((item) => typeof item === 'string')) {
    throw invalidType('stop', 'a string or up to 4 strings');
  }
  return list.filter((item) => item !== '');
}

export function readIncludeUsage(parameters: Parameters, stream: boolean): boolean {
  const options = parameters.object('stream_options');
  if (options && !stream) throw invalidValue('stream_options', "it is only allowed when 'stream' is true");
  return options?.include_usage === true;
}

function readMaxTokens(parameters: Parameters): number | undefined {
  const range = { min: 1, max: Number.MAX_SAFE_INTEGER };
  return parameters.integer('max_completion_tokens', range) ?? parameters.integer('max_tokens', range);
}

function readConversation(parameters: Parameters): Conversation {
  const format = parameters.object('response_format');
  const jsonSchema = isObject(format?.json_schema) ? format.json_schema : {};
  if (format?.type === 'json_schema' && typeof jsonSchema.name !== 'string') {
    throw missingParameter('response_format.json_schema.name');
  }
  return {
    turns: readMessages(parameters),
    tools: parameters.list('tools').map(readTool),
    toolChoice: readToolChoice(parameters.raw('tool_choice')),
    allowsParallelCalls: parameters.raw('parallel_tool_calls') !== false,
    format: readFormat(format?.type, jsonSchema.schema, 'response_format'),
  };
}

function readMessages(parameters: Parameters): Turn[] {
  if (parameters.raw('messages') === undefined) throw missingParameter('messages');
  const messages = parameters.list('messages');
  if (messages.length > 0) return messages.map(readMessage);
  const message =
    "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
  throw new DemoError({ status: 400, code: 'empty_array', param: 'messages', message });
}

function readMessage(message: unknown, index: number): Turn {
  const where = `messages[${index}]`;
  if (!isObject(message)) throw invalidType(where, 'an object');
  if (message.role === undefined) throw missingParameter(`${where}.role`);
  const role = Object.hasOwn(roles, String(message.role)) ? roles[String(message.role)] : undefined;
  if (!role) throw invalidValue(`${where}.role`, `use one of ${Object.keys(roles).join(', ')}`);
  if (role === 'tool' && message.role === 'tool' && typeof message.tool_call_id !== 'string') {
    throw missingParameter(`${where}.tool_call_id`);
  }
  const content = message.content ?? (role === 'assistant' ? '' : undefined);
  if (content === undefined) throw missingParameter(`${where}.content`);
  return { role, ...readContent(content, `${where}.content`) };
}

function readContent(content: unknown, where: string): Pick<Turn, 'text' | 'attachments'> {
  if (typeof content === 'string') return { text: content, attachments: [] };
  if (!Array.isArray(content)) throw invalidType(where, 'a string or an array of parts');
  const parts = content.map((part: unknown, index) => readPart(part, `${where}[${index}]`));
  return {
    text: parts.flatMap((part) => part.text ?? []).join('\n'),
    attachments: parts.flatMap((part) => part.attachment ?? []),
  };
}

function readPart(part: unknown, where: string): { text?: string; attachment?: string } {
  if (!isObject(part)) throw invalidType(where, 'an object');
  const type = String(part.type);
  if (type === 'text' || type === 'refusal') {
    const text = part[type];
    if (typeof text !== 'string') throw missingParameter(`${where}.${type}`);
    return { text };
  }
  const attachment = attachmentNames[type];
  if (!attachment) throw invalidValue(`${where}.type`, 'use text, image_url, input_audio or file');
  if (!isObject(part[type])) throw missingParameter(`${where}.${type}`);
  return { attachment };
}

function readTool(tool: unknown, index: number): Tool {
  const where = `tools[${index}]`;
  if (!isObject(tool)) throw invalidType(where, 'an object');
  if (tool.type !== 'function' && tool.type !== 'custom') throw invalidValue(`${where}.type`, 'use function or custom');
  const definition: unknown = tool[tool.type];
  if (!isObject(definition)) throw missingParameter(`${where}.${tool.type}`);
  return { kind: tool.type, ...readDefinition(definition, `${where}.${tool.type}`) };
}

function readDefinition(definition: JsonObject, where: string): Pick<Tool, 'name' | 'schema'> {
  if (typeof definition.name !== 'string') throw missingParameter(`${where}.name`);
  return { name: definition.name, schema: definition.parameters };
}
