/** The routes and messages of the traps. */
import type { Json, Way } from './translating.ts';

export const chatToClaude: Way = { from: 'openai-chat', to: 'anthropic-messages', model: 'claude-opus-4-6' };

export const claudeToChat: Way = { from: 'anthropic-messages', to: 'openai-chat', model: 'llama-3.3-70b' };

export const claudeToResponses: Way = { from: 'anthropic-messages', to: 'openai-responses', model: 'gpt-5.4' };

export const chatToGemini: Way = { from: 'openai-chat', to: 'gemini-generate', model: 'gemini-3-pro' };

export const user = { role: 'user', content: 'Hello' };

export const toolUse = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} });

export const toolResult = (id: string, content: unknown = 'A') => ({ type: 'tool_result', tool_use_id: id, content });

export const claude = (...messages: Json[]): Json => ({ model: 'm', max_tokens: 9, messages: [user, ...messages] });

export const chat = (...messages: Json[]): Json => ({ model: 'm', messages: [user, ...messages] });

export const call = (id: string, name = 'read') => ({ id, type: 'function', function: { name, arguments: '{}' } });

export const loop = (id: string, name = 'read'): [Json, Json] => [
  { role: 'assistant', content: null, tool_calls: [call(id, name)] },
  { role: 'tool', tool_call_id: id, content: 'A' },
];
