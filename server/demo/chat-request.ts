/** Reads the body of a chat completion. */
import type { Conversation } from './conversation.ts';
import { invalidType, missingParameter } from './demo-error.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { asksToThink, readMessage, readSchema, readToolChoice, readTools } from './read-conversation.ts';

export interface ChatRequest {
  model: string;
  conversation: Conversation;
  choices: number;
  stop: readonly string[];
  maxTokens: number;
  stream: boolean;
  includeUsage: boolean;
}

export function readChatRequest(parameters: Parameters): ChatRequest {
  const range = { min: 1, max: Number.MAX_SAFE_INTEGER };
  return {
    model: modelOf(parameters, 'chat'),
    conversation: readConversation(parameters),
    choices: parameters.integer('n', { min: 1, max: 128 }) ?? 1,
    stop: readStop(parameters),
    maxTokens:
      parameters.integer('max_completion_tokens', range) ?? parameters.integer('max_tokens', range) ?? Infinity,
    stream: parameters.boolean('stream'),
    includeUsage: readIncludeUsage(parameters),
  };
}

export function readStop(parameters: Parameters): readonly string[] {
  const value = parameters.raw('stop') ?? [];
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) {
    throw invalidType('stop', 'a string or an array of strings');
  }
  return list.filter((item) => item !== '');
}

export function readIncludeUsage(parameters: Parameters): boolean {
  return parameters.object('stream_options')?.include_usage === true;
}

function readConversation(parameters: Parameters): Conversation {
  const messages = parameters.list('messages');
  if (messages.length === 0) throw missingParameter('messages');
  return {
    turns: messages.map((message, index) => readMessage(message, `messages[${index}]`)),
    tools: readTools(parameters.list('tools')),
    toolChoice: readToolChoice(parameters.raw('tool_choice')),
    allowsParallelCalls: parameters.raw('parallel_tool_calls') !== false,
    schema: readSchema(parameters.raw('response_format')),
    thinks: asksToThink(parameters.raw('reasoning_effort')),
  };
}
