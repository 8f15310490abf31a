/** Reads the parts of a conversation that chat completions and responses have in common. */
import { isObject } from '../contract/is-object.ts';
import type { Tool, ToolChoice, Turn } from './conversation.ts';
import { invalidType, invalidValue } from './demo-error.ts';
import { anyObject } from './schema-in-prompt.ts';

const roles: Readonly<Record<string, Turn['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

const attachmentNames: Readonly<Record<string, string>> = {
  image_url: 'image',
  input_image: 'image',
  input_audio: 'sound',
  file: 'file',
  input_file: 'file',
};

/** Reads a message of either API; `path` is its name in an error. */
export function readMessage(message: unknown, path: string): Turn {
  if (!isObject(message)) throw invalidType(path, 'an object');
  const role = Object.hasOwn(roles, String(message.role)) ? roles[String(message.role)] : undefined;
  if (!role) throw invalidValue(`${path}.role`, `use one of ${Object.keys(roles).join(', ')}`);
  return { role, ...readContent(message.content) };
}

/** Accepts text or a list of parts. */
export function readContent(content: unknown): Pick<Turn, 'text' | 'attachments'> {
  const parts = (Array.isArray(content) ? content : [{ text: content }]).filter(isObject);
  return {
    text: parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n'),
    attachments: parts.flatMap(({ type }) => attachmentNames[String(type)] ?? []),
  };
}

/** Reads functions and custom tools. Hosted tools, such as `web_search`, are accepted but never called. */
export function readTools(tools: readonly unknown[]): Tool[] {
  return tools.filter(isObject).flatMap((tool) => {
    if (tool.type !== 'function' && tool.type !== 'custom') return [];
    const { name, parameters } = definitionOf(tool);
    return [{ kind: tool.type, name: String(name), schema: parameters }];
  });
}

export function readToolChoice(value: unknown): ToolChoice {
  if (value === 'none' || value === 'required') return { mode: value };
  if (!isObject(value)) return { mode: 'auto' };
  const { name, mode } = definitionOf(value);
  return typeof name === 'string' ? { mode: 'required', name } : { mode: mode === 'required' ? mode : 'auto' };
}

/** Chat completions nest the definition below its type, responses do not. */
function definitionOf(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const nested = value[String(value.type)];
  return isObject(nested) ? nested : value;
}

/** The schema of `response_format` or `text.format`; `undefined` if text is requested. */
export function readSchema(format: unknown): unknown {
  if (!isObject(format)) return undefined;
  if (format.type === 'json_object') return anyObject;
  return format.type === 'json_schema' ? (definitionOf(format).schema ?? {}) : undefined;
}

/** `effort`: `reasoning_effort` of a chat, or `reasoning.effort` of a response. */
export function asksToThink(effort: unknown): boolean {
  return typeof effort === 'string' && effort !== 'none' && effort !== 'minimal';
}
