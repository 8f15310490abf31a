/** A chat request that was sent, as the chat bench holds it. Pure. */
import type { Turn } from './conversation.ts';
import { at, listAt, numberAt, textAt } from './json-path.ts';
import { noParameters, type SamplingDraft } from './sampling.ts';

export interface ReadChat {
  model: string | null;
  /** What was said before the last message. */
  turns: Turn[];
  /** The last message of the user, to be sent again or changed; empty if another one was last. */
  text: string;
  system: string;
  tools: string;
  sampling: SamplingDraft;
}

/** Null: it is no chat request. */
export function readSentChat(body: unknown): ReadChat | null {
  const messages = listAt(body, 'messages');
  if (messages.length === 0) return null;
  const system = messages.filter((message) => isSystem(textAt(message, 'role')));
  const turns = messages
    .filter((message) => !isSystem(textAt(message, 'role')))
    .map((message, id) => toTurn(message, id, textAt(body, 'model')));
  const last = turns.at(-1);
  const isAsked = last?.role === 'user' && last.image === null;
  const tools = listAt(body, 'tools');
  return {
    model: textAt(body, 'model'),
    turns: isAsked ? turns.slice(0, -1) : turns,
    text: isAsked ? last.text : '',
    system: system.map((message) => textOf(at(message, 'content'))).join('\n\n'),
    tools: tools.length === 0 ? '' : JSON.stringify(tools, null, 2),
    sampling: samplingOf(body),
  };
}

function isSystem(role: string | null): boolean {
  return role === 'system' || role === 'developer';
}

function toTurn(message: unknown, id: number, model: string | null): Turn {
  const role = textAt(message, 'role');
  const content = at(message, 'content');
  const image = listAt(content).find((part) => textAt(part, 'type') === 'image_url');
  return {
    id,
    role: role === 'assistant' || role === 'tool' ? role : 'user',
    text: textOf(content),
    image: dataUrl(textAt(image, 'image_url', 'url')),
    toolCalls: listAt(message, 'tool_calls').map((call) => ({
      id: textAt(call, 'id') ?? '',
      name: textAt(call, 'function', 'name') ?? '',
      arguments: textAt(call, 'function', 'arguments') ?? '',
    })),
    model: role === 'assistant' ? model : null,
    requestId: null,
    failure: null,
  };
}

/** The window fetches nothing from elsewhere. */
function dataUrl(url: string | null): string | null {
  return url?.startsWith('data:') ? url : null;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listAt(content)
    .flatMap((part) => textAt(part, 'text') ?? [])
    .join('\n');
}

function samplingOf(body: unknown): SamplingDraft {
  const schema = at(body, 'response_format', 'json_schema', 'schema');
  return {
    ...noParameters,
    temperature: numberAt(body, 'temperature') ?? '',
    topP: numberAt(body, 'top_p') ?? '',
    maxTokens: numberAt(body, 'max_completion_tokens') ?? numberAt(body, 'max_tokens') ?? '',
    effort: textAt(body, 'reasoning_effort') ?? '',
    schema: schema === undefined ? '' : JSON.stringify(schema, null, 2),
  };
}
