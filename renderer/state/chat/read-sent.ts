/**
 * Reads a conversation that a client sent to Chat Completions, Responses, Anthropic Messages or Gemini into the chat
 * panel. Whatever the panel cannot keep is left out and listed by its name in the API. Pure.
 */

import {
  readRequest,
  type ShownMessage,
  type ShownPart,
} from '../../../server/contract/conversation/read-conversation.ts';
import { isObject } from '../../../server/contract/is-object.ts';
import type { SentRequest } from '../../../server/contract/sent-request.ts';
import { at, listAt, numberAt, parseJson, textAt } from '../calls/json-path.ts';
import { emptyTurn, type Turn } from './conversation.ts';
import { noParameters, type SamplingDraft } from './sampling.ts';

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

/** Function tools in the format of Chat Completions. Tools of other types are added to `omitted`. */
function readTools(tools: unknown, omitted: Set<string>): object[] {
  return listAt(tools).flatMap((tool) => {
    if (!isObject(tool)) return [];
    const declared = listAt(tool.functionDeclarations ?? tool.function_declarations);
    if (declared.length > 0) return declared.map((each) => toFunction(each, geminiSchemaOf(each)));
    const type = textAt(tool, 'type');
    // Already in the format of Chat Completions.
    if (isObject(tool.function) || (type === 'custom' && isObject(tool.custom))) return [tool];
    if (type === 'function') return [toFunction(tool, tool.parameters)];
    if (isObject(tool.input_schema)) return [toFunction(tool, tool.input_schema)];
    omitted.add(textAt(tool, 'name') ?? type ?? Object.keys(tool)[0] ?? 'tools');
    return [];
  });
}

function toFunction(declared: unknown, parameters: unknown): object {
  const [name, description, strict] = ['name', 'description', 'strict'].map((field) => at(declared, field));
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && parameters !== null && { parameters }),
      ...(typeof strict === 'boolean' && { strict }),
    },
  };
}

function geminiSchemaOf(declared: unknown): unknown {
  return at(declared, 'parametersJsonSchema') ?? withPlainTypes(at(declared, 'parameters'));
}

/** Gemini's own schemas have types in capitals: `OBJECT`. */
function withPlainTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withPlainTypes);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : withPlainTypes(value),
    ]),
  );
}

function readSampling(body: unknown): SamplingDraft {
  const gemini = at(body, 'generationConfig') ?? at(body, 'generation_config');
  const schema = schemaIn(body);
  const numberOf = (source: unknown, ...names: string[]) =>
    names.map((name) => numberAt(source, name)).find((value) => value !== null);
  return {
    ...noParameters,
    temperature: numberOf(body, 'temperature') ?? numberOf(gemini, 'temperature') ?? '',
    topP: numberOf(body, 'top_p') ?? numberOf(gemini, 'topP', 'top_p') ?? '',
    maxTokens:
      numberOf(body, 'max_completion_tokens', 'max_output_tokens', 'max_tokens') ??
      numberOf(gemini, 'maxOutputTokens', 'max_output_tokens') ??
      '',
    effort:
      textAt(body, 'reasoning_effort') ??
      textAt(body, 'reasoning', 'effort') ??
      textAt(body, 'output_config', 'effort') ??
      '',
    schema: schema === undefined ? '' : JSON.stringify(schema, null, 2),
  };
}

function schemaIn(body: unknown): unknown {
  const gemini = at(body, 'generationConfig');
  return (
    at(body, 'response_format', 'json_schema', 'schema') ??
    at(body, 'text', 'format', 'schema') ??
    at(body, 'output_config', 'format', 'schema') ??
    at(gemini, 'responseJsonSchema') ??
    withPlainTypes(at(gemini, 'responseSchema'))
  );
}

/** Fields that are carried over completely. The panel always streams. */
const supported = new Set(
  (
    'model messages system contents systemInstruction system_instruction input instructions tools stream stream_options ' +
    'temperature top_p max_tokens max_completion_tokens max_output_tokens reasoning_effort'
  ).split(' '),
);
/** Fields of which only these members are carried over. */
const partly: Record<string, readonly string[]> = {
  reasoning: ['effort'],
  output_config: ['effort', 'format'],
  text: ['format'],
  generationConfig: 'temperature topP maxOutputTokens responseSchema responseJsonSchema responseMimeType'.split(' '),
  generation_config: ['temperature', 'top_p', 'max_output_tokens'],
};

/**
 * Names of the top-level fields that the panel does not keep. If only a member is not kept, it is named too:
 * `reasoning.summary`.
 */
function omittedFields(body: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === null || supported.has(name)) return [];
    const members = partly[name];
    if (name === 'response_format')
      return schemaIn(body) === undefined && textAt(value, 'type') !== 'text' ? [name] : [];
    if (members === undefined || !isObject(value)) return [name];
    return Object.keys(value).flatMap((member) => (members.includes(member) ? [] : `${name}.${member}`));
  });
}

/**
 * A request as the chat panel can open it. `missing`: its body was not kept completely. `other`: it is not a
 * conversation.
 */
export type ParsedSentRequest = { kind: 'chat'; chat: SentChat; api: string } | { kind: 'missing' } | { kind: 'other' };

export function parseSentRequest(sent: SentRequest): ParsedSentRequest {
  if (sent.kind === 'missing') return sent;
  const api = apiOfUrl(sent.path);
  // Other APIs, such as embeddings, also have an `input`.
  const chat = api === null ? null : readSentChat(parseJson(sent.body), sent.request.modelAsked);
  return api !== null && chat !== null ? { kind: 'chat', chat, api } : { kind: 'other' };
}

/** Conversation APIs by the paths of their calls. Their names are the same in every language. */
const apis: readonly [path: RegExp, name: string][] = [
  [/\/chat\/completions$/, 'OpenAI Chat Completions'],
  [/\/responses$/, 'OpenAI Responses'],
  [/\/messages$|:(?:streamR|r)awPredict$|\/invoke(?:-with-response-stream)?$/, 'Anthropic Messages'],
  [/:(?:streamG|g)enerateContent$/, 'Gemini generateContent'],
  [/\/converse(?:-stream)?$/, 'Bedrock Converse'],
];

/** The API of an attempt, derived from the URL it called; null for other APIs. */
export function apiOfUrl(url: string): string | null {
  const [path = ''] = url.split('?');
  return apis.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}
