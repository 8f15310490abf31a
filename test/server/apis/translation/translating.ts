/** Translates values that a test writes, and returns values. */

import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import { AnswerFold, eventsOfWhole } from '../../../../server/apis/neutral/answers/answer-fold.ts';
import type { UpstreamTranslation } from '../../../../server/apis/neutral/answers/wire-translation.ts';
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import type { Loss } from '../../../../server/apis/neutral/losses.ts';
import type { Answer, AnswerEvent, AnswerPart } from '../../../../server/apis/neutral/neutral-answer.ts';
import type { Target } from '../../../../server/apis/neutral/requests/rendering.ts';
import {
  createTranslator,
  type TranslatedRequest,
  type Translator,
} from '../../../../server/apis/translation/translator.ts';
import type { MaybePromise } from '../../../../server/ground/promises.ts';

type Delta = 'reasoning_summary_text' | 'output_text' | 'function_call_arguments' | 'custom_tool_call_input';

const partOf: { [kind in Delta]?: string } = {
  reasoning_summary_text: 'reasoning_summary_part',
  output_text: 'content_part',
};

/**
 * The types of the events for one item in a stream of OpenAI's Responses API, in order and without `response.`.
 * `deltas` is the number of pieces in which the item arrives. Source: OpenAI's API reference, "Streaming events".
 */
export function itemEvents(kind: Delta, deltas = 1): string[] {
  const part = partOf[kind];
  return [
    'output_item.added',
    ...(part ? [`${part}.added`] : []),
    ...Array<string>(deltas).fill(`${kind}.delta`),
    `${kind}.done`,
    ...(part ? [`${part}.done`] : []),
    'output_item.done',
  ];
}

// Answers in the neutral form, for tests: as a whole and as events.

export function answerEvents({ id, parts, stop, usage }: Answer): AnswerEvent[] {
  return [
    { type: 'start', id },
    ...parts.flatMap(answerPartEvents),
    { type: 'stop', stop },
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'end' },
  ];
}

/** `index`: the position among the answer's calls, if the part is a call. */
function answerPartEvents(part: AnswerPart, index: number): AnswerEvent[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: part.type, text: part.text }];
    case 'thinking': {
      const thought: AnswerEvent[] = part.text === '' ? [] : [{ type: 'thinking', text: part.text }];
      return part.seal ? [...thought, { type: 'seal', seal: part.seal }] : thought;
    }
    case 'call': {
      const { id, name, namespace, kind, seal, arguments: text } = part;
      return [
        { type: 'call', index, id, name, namespace, kind, seal },
        ...(text === '' ? [] : [{ type: 'arguments' as const, index, text }]),
        { type: 'call-end', index },
      ];
    }
    case 'media':
      return [{ type: 'media', part }];
    case 'foreign':
      return [{ type: 'foreign', name: part.name }];
  }
}

/** What a whole answer says; null if the body is none. */
export function wholeAnswer(translation: UpstreamTranslation, body: unknown): Answer | null {
  const events = eventsOfWhole(translation, body, 0);
  if (events === null) return null;
  const fold = new AnswerFold();
  for (const event of events) fold.take(event);
  return fold.answer;
}

// The routes and messages of the traps.

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

// Long conversations of coding agents, in the format of each client API.

interface Turn {
  id: string;
  given: Json;
  said: string;
  result: string;
}

const line = 'export function total(lines: readonly Line[]): number { return sum(lines, "amount") ?? 0; } // ünïcode\n';

function turnsOf(bytes: number, calls: number): Turn[] {
  const result = line.repeat(Math.ceil(bytes / calls / Buffer.byteLength(line)));
  return Array.from({ length: calls }, (_, index) => ({
    id: `call_${index}`,
    given: { path: `src/file-${index}.ts`, lines: [index, 1 + index] },
    said: `Now I read file ${index}.`,
    result,
  }));
}

const system = 'You are a careful programmer.';
const task = 'Find the bug in the invoice.';
const tool = {
  name: 'read_file',
  description: 'Reads lines of a file',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' }, lines: { type: 'array', items: { type: 'integer' } } },
    required: ['path'],
  },
};

const histories: Record<WireName, (turns: readonly Turn[]) => Json> = {
  'openai-chat': (turns) => ({
    model: 'm',
    stream: true,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: task },
      ...turns.flatMap(({ id, given, said, result }) => [
        {
          role: 'assistant',
          content: said,
          tool_calls: [{ id, type: 'function', function: { name: tool.name, arguments: JSON.stringify(given) } }],
        },
        { role: 'tool', tool_call_id: id, content: result },
      ]),
    ],
    tools: [{ type: 'function', function: tool }],
  }),
  'openai-responses': (turns) => ({
    model: 'm',
    stream: true,
    store: false,
    instructions: system,
    input: [
      { role: 'user', content: task },
      ...turns.flatMap(({ id, given, said, result }) => [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said, annotations: [] }] },
        { type: 'function_call', call_id: id, name: tool.name, arguments: JSON.stringify(given) },
        { type: 'function_call_output', call_id: id, output: result },
      ]),
    ],
    tools: [{ type: 'function', ...tool }],
  }),
  'anthropic-messages': (turns) => ({
    model: 'm',
    stream: true,
    max_tokens: 1000,
    system,
    messages: [
      { role: 'user', content: task },
      ...turns.flatMap(({ id, given, said, result }) => [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: said },
            { type: 'tool_use', id, name: tool.name, input: given },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
      ]),
    ],
    tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
  }),
  'gemini-generate': (turns) => ({
    model: 'm',
    stream: true,
    systemInstruction: { parts: [{ text: system }] },
    contents: [
      { role: 'user', parts: [{ text: task }] },
      ...turns.flatMap(({ given, said, result }) => [
        { role: 'model', parts: [{ text: said }, { functionCall: { name: tool.name, args: given } }] },
        { role: 'user', parts: [{ functionResponse: { name: tool.name, response: { output: result } } }] },
      ]),
    ],
    tools: [{ functionDeclarations: [tool] }],
  }),
};

/** @param bytes total size of the tools' results */
export function longHistory(client: WireName, bytes: number, calls: number): Buffer {
  return Buffer.from(JSON.stringify(histories[client](turnsOf(bytes, calls))));
}

export type Json = Record<string, unknown>;

/** Of an answer that is short enough to be translated in this thread. */
export function here<Value>(value: MaybePromise<Value>): Value {
  if (value instanceof Promise) throw new Error('It is translated in another thread.');
  return value;
}

export const moment = { createdAt: 1_790_000_000 };

export function targetOf(model: string): Target {
  return { model, origin: { provider: 'provider', model, account: 'account' } };
}

export function translatorOf(client: WireName, upstream: UpstreamWireName): Translator {
  const translator = createTranslator(client, upstream);
  if (!translator) throw new Error(`Nothing translates ${client} into ${upstream}.`);
  return translator;
}

export interface Way {
  from: WireName;
  to: UpstreamWireName;
  /** The upstream's name for it. */
  model: string;
}

export function translate({ from, to, model }: Way, body: unknown): TranslatedRequest {
  const translator = translatorOf(from, to);
  return translator.request(translator.read(Buffer.from(JSON.stringify(body))), targetOf(model));
}

/** What the upstream receives. */
export function sent(way: Way, body: unknown): Json {
  return JSON.parse(translate(way, body).body.toString());
}

/** For example `dropped top_k: no-equal`. */
export function lossesOf(way: Way, body: unknown): string[] {
  return translate(way, body).losses.map(lineOf);
}

export function lineOf({ fate, field, code }: Loss): string {
  return `${fate} ${field}: ${code}`;
}

/** What a client receives for a whole answer. */
export function answered(request: TranslatedRequest, answer: unknown): Json {
  const result = request.whole(Buffer.from(JSON.stringify(answer)), moment);
  if (!result?.ok) throw new Error(`No answer: ${JSON.stringify(result)}`);
  return JSON.parse(result.body.toString());
}

/** An upstream's stream, with names of events if its API has them. */
export function streamOf(events: readonly (Json | string)[], isNamed: boolean): Buffer {
  const texts = events.map((event) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    const name = isNamed && typeof event !== 'string' ? `event: ${event.type}\n` : '';
    return `${name}data: ${data}\n\n`;
  });
  return Buffer.from(texts.join(''));
}

/** What a client receives for a stream that arrives in the given pieces and ends. */
export function streamed(request: TranslatedRequest, pieces: readonly Buffer[]): string {
  const events = request.events(moment);
  const told: Buffer[] = [];
  const gate = sseFraming.openGate(() => {}, {
    filter: (event) => {
      const read = sseFraming.readEvent(event);
      if (read) told.push(events.push(read));
      return null;
    },
  });
  for (const piece of pieces) gate.push(piece);
  told.push(events.end());
  return Buffer.concat(told).toString();
}

/** The data of all events, parsed if it is JSON. */
export function dataOf(stream: string): unknown[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => {
      const data = line.slice('data: '.length);
      return data === '[DONE]' ? data : JSON.parse(data);
    });
}

/** The same bytes in two pieces, for every place to cut them. */
export function everySplit(bytes: Buffer): [Buffer, Buffer][] {
  return Array.from({ length: bytes.length - 1 }, (_, at) => [bytes.subarray(0, at + 1), bytes.subarray(at + 1)]);
}
