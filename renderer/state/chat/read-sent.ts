/**
 * Reads a conversation that a client sent to Chat Completions, Responses, Anthropic Messages or Gemini into the chat
 * panel. Whatever the panel cannot keep is left out and listed by its name in the API. Pure.
 */

import type { ShownMessage, ShownPart } from '../../../server/contract/conversation/conversation.ts';
import { readRequest } from '../../../server/contract/conversation/read-conversation.ts';
import { isObject } from '../../../server/contract/is-object.ts';
import { textAt } from '../calls/json-path.ts';
import type { Turn } from './conversation.ts';
import { omittedFields, readSampling, readTools } from './read-sent-fields.ts';
import type { SamplingDraft } from './sampling.ts';

export interface SentChat {
  model: string | null;
  /** The messages before the last one. */
  turns: Turn[];
  /** The user's last message, to be sent again or edited; empty if the last message was of another role. */
  text: string;
  system: string;
  /** In the format of Chat Completions; empty if there are none. */
  tools: string;
  sampling: SamplingDraft;
  /** Fields and kinds of content that none of the other members contains, such as `metadata` and `thinking`. */
  omitted: string[];
}

/**
 * Null if it is not a conversation.
 * @param modelAsked the model if the body does not name one, as in Gemini's API
 */
export function readSentChat(body: unknown, modelAsked: string | null): SentChat | null {
  if (!isObject(body) || !['messages', 'contents', 'input'].some((name) => body[name] !== undefined)) return null;
  const messages = readRequest(body);
  const model = textAt(body, 'model') ?? modelAsked;
  const omitted = new Set<string>();
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === 'system') noteOmitted(message.parts, omitted);
    else addTurns(turns, message, { omitted, model, joinsAnswers: body.input !== undefined });
  }
  if (turns.length === 0) return null;
  const last = turns.at(-1);
  const endsWithQuestion = last?.role === 'user' && last.image === null;
  const tools = readTools(body.tools, omitted);
  for (const field of omittedFields(body)) omitted.add(field);
  return {
    model,
    turns: endsWithQuestion ? turns.slice(0, -1) : turns,
    text: endsWithQuestion ? last.text : '',
    system: messages.flatMap(({ role, parts }) => (role === 'system' ? textOf(parts) : [])).join('\n\n'),
    tools: tools.length === 0 ? '' : JSON.stringify(tools, null, 2),
    sampling: readSampling(body),
    omitted: [...omitted],
  };
}

interface Reading {
  omitted: Set<string>;
  model: string | null;
  /** Joins consecutive items of the Responses API into one answer, because each call is an item of its own. */
  joinsAnswers: boolean;
}

/** Results come before the rest of a message, because they belong to the calls of the previous turn. */
function addTurns(turns: Turn[], { role, parts }: ShownMessage, { omitted, model, joinsAnswers }: Reading): void {
  for (const part of parts) {
    if (part.kind !== 'result') continue;
    noteOmitted(part.parts, omitted);
    if (part.isError) omitted.add('is_error');
    turns.push({ ...emptyTurn, id: turns.length, role: 'tool', text: textOf(part.parts), callId: part.callId });
  }
  const contents = parts.filter(({ kind }) => kind !== 'result');
  if (contents.length === 0) return;
  const isAnswer = role === 'assistant';
  const image = isAnswer ? undefined : contents.find(isShownImage);
  noteOmitted(
    contents.filter((part) => part !== image && !(isAnswer && part.kind === 'call')),
    omitted,
  );
  const text = textOf(contents);
  const calls = contents.flatMap((part) =>
    part.kind === 'call' && isAnswer ? [{ id: part.id, name: part.name, arguments: part.input }] : [],
  );
  const before = turns.at(-1);
  if (isAnswer && joinsAnswers && before?.role === 'assistant') {
    const joined = [before.text, text].filter((each) => each !== '').join('\n');
    turns[turns.length - 1] = { ...before, text: joined, toolCalls: [...before.toolCalls, ...calls] };
  } else if (text !== '' || image || calls.length > 0) {
    const url = image?.kind === 'media' ? image.url : null;
    const author = { id: turns.length, role: isAnswer ? ('assistant' as const) : ('user' as const) };
    turns.push({ ...emptyTurn, ...author, text, image: url, toolCalls: calls, model: isAnswer ? model : null });
  }
}

const emptyTurn = { text: '', image: null, toolCalls: [], callId: null, model: null, requestId: null, failure: null };

/** Only embedded images, because the window loads nothing from other addresses. */
function isShownImage(part: ShownPart): boolean {
  return part.kind === 'media' && part.medium === 'image' && (part.url?.startsWith('data:') ?? false);
}

/** Adds everything that is not text to `omitted`. */
function noteOmitted(parts: readonly ShownPart[], omitted: Set<string>): void {
  for (const part of parts) {
    if (part.kind === 'media') omitted.add(part.medium);
    else if (part.kind === 'other') omitted.add(part.name);
    else if (part.kind !== 'text') omitted.add(part.kind);
  }
}

function textOf(parts: readonly ShownPart[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? part.text : [])).join('\n');
}
