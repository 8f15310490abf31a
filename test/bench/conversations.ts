/**
 * Streamed conversations for the phase `translated`: the requests of each client API, and the answers of each upstream
 * API in the format of its providers. The model's name tells the upstream what to answer.
 */
import { eventFrame } from '../support/strict-bedrock.ts';
import { type Address, clientKey } from './payloads.ts';

// Streams of each upstream API, with the counters and the padding in its events.

type Json = Record<string, unknown>;
type Write = (said: Said, count: number) => UpstreamStream;

const words = [' the', ' proxy', ' takes', ' a request,', ' "looks"', ' at it', '\n', ' ünd', ' passes', ' it on'];
const wordAt = (index: number) => words[index % words.length] ?? '';
const padding = (index: number) => 'abcdefghijklmnopqrstuvwxyz'.slice(0, 1 + ((index * 7) % 20));

/** A piece of a call's arguments. */
function pieceAt(index: number, count: number): string {
  if (index === 0) return '{"text":"';
  return index === count - 1 ? '"}' : JSON.stringify(wordAt(index)).slice(1, -1);
}

const listed = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, at) => item(at));

/** The content of each of `count` events. */
function pieces(said: Said, count: number): string[] {
  return listed(count, (index) => (said === 'arguments' ? pieceAt(index, count) : wordAt(index)));
}

function sse(begin: readonly string[], events: readonly string[], end: readonly string[]): UpstreamStream {
  return {
    contentType: 'text/event-stream; charset=utf-8',
    begin: Buffer.from(begin.join('')),
    events: events.map((event) => Buffer.from(event)),
    end: Buffer.from(end.join('')),
  };
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, members: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const chat: Write = (said, count) => {
  const base = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_750_000_000, model: 'bench' };
  const chunk = (delta: Json, finish: string | null = null) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return data({ ...base, service_tier: 'default', system_fingerprint: 'fp_bench', choices, usage: null });
  };
  const deltas: Record<Said, (piece: string) => Json> = {
    text: (content) => ({ content }),
    thinking: (reasoning_content) => ({ reasoning_content }),
    arguments: (given) => ({ tool_calls: [{ index: 0, function: { arguments: given } }] }),
  };
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'write', arguments: '' } };
  const usage = { prompt_tokens: 310, completion_tokens: count, total_tokens: 310 + count };
  return sse(
    [chunk({ role: 'assistant', content: '' }), ...(said === 'arguments' ? [chunk({ tool_calls: [call] })] : [])],
    pieces(said, count).map((piece) => chunk(deltas[said](piece))),
    [
      ...(said === 'thinking' ? [chunk({ content: 'So.' })] : []),
      chunk({}, said === 'arguments' ? 'tool_calls' : 'stop'),
      ...[data({ ...base, choices: [], usage }), 'data: [DONE]\n\n'],
    ],
  );
};

const responses: Write = (said, count) => {
  let number = 0;
  const write = (type: string, members: Json) => named(type, { sequence_number: number++, ...members });
  const head = { id: 'resp_1', object: 'response', created_at: 1_750_000_000, model: 'bench', output: [] };
  const place = { item_id: 'item_0123456789abcdef', output_index: 0 };
  const kinds: Record<Said, { item: Json; delta: string; members: Json }> = {
    text: {
      item: { type: 'message', role: 'assistant', content: [] },
      ...{ delta: 'response.output_text.delta', members: { content_index: 0, logprobs: [] } },
    },
    thinking: {
      item: { type: 'reasoning', summary: [] },
      ...{ delta: 'response.reasoning_summary_text.delta', members: { summary_index: 0 } },
    },
    arguments: {
      item: { type: 'function_call', call_id: 'call_1', name: 'write', arguments: '' },
      ...{ delta: 'response.function_call_arguments.delta', members: {} },
    },
  };
  const { item, delta, members } = kinds[said];
  const output = { id: place.item_id, ...item };
  const begin = [
    write('response.created', { response: { ...head, status: 'in_progress' } }),
    write('response.output_item.added', { output_index: 0, item: output }),
  ];
  const events = pieces(said, count).map((piece, index) =>
    write(delta, { ...place, ...members, delta: piece, obfuscation: padding(index) }),
  );
  const usage = { input_tokens: 310, output_tokens: count, total_tokens: 310 + count };
  const end = [
    write('response.output_item.done', { output_index: 0, item: output }),
    write('response.completed', { response: { ...head, status: 'completed', usage } }),
  ];
  return sse(begin, events, end);
};

const messages: Write = (said, count) => {
  const blocks: Record<Said, Json> = {
    text: { type: 'text', text: '' },
    thinking: { type: 'thinking', thinking: '', signature: '' },
    arguments: { type: 'tool_use', id: 'toolu_1', name: 'write', input: {} },
  };
  const deltas: Record<Said, (piece: string) => Json> = {
    text: (text) => ({ type: 'text_delta', text }),
    thinking: (thinking) => ({ type: 'thinking_delta', thinking }),
    arguments: (partial_json) => ({ type: 'input_json_delta', partial_json }),
  };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'bench', content: [], stop_reason: null };
  const delta = (of: Json) => named('content_block_delta', { index: 0, delta: of });
  const stop = said === 'arguments' ? 'tool_use' : 'end_turn';
  return sse(
    [
      named('message_start', { message: { ...message, usage: { input_tokens: 310, output_tokens: 1 } } }),
      named('content_block_start', { index: 0, content_block: blocks[said] }),
    ],
    pieces(said, count).map((piece) => delta(deltas[said](piece))),
    [
      ...(said === 'thinking' ? [delta({ type: 'signature_delta', signature: 'c2lnbmF0dXJl' })] : []),
      named('content_block_stop', { index: 0 }),
      named('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: count } }),
      named('message_stop', {}),
    ],
  );
};

/** Each event contains the token counts so far. A call is sent in one event. */
const gemini: Write = (said, count) => {
  const event = (part: Json, index: number, finishReason?: string) => {
    const content = { parts: [part], role: 'model' };
    const usageMetadata = {
      ...{ promptTokenCount: 310, candidatesTokenCount: 1 + index, totalTokenCount: 311 + index },
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 310 }],
    };
    const candidates = [{ content, ...(finishReason && { finishReason }), index: 0 }];
    return `data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: 'bench', responseId: 'r1' })}\r\n\r\n`;
  };
  const call = { functionCall: { name: 'write', args: { text: 'a word' } } };
  const thought = said === 'thinking' ? { thought: true } : {};
  const events = listed(count, (index) => event({ text: wordAt(index), ...thought }, index));
  const last = said === 'arguments' ? call : { text: '' };
  return sse([], events, [event(last, count, 'STOP')]);
};

const converse: Write = (said, count) => {
  const frame = (type: string, payload: Json, index = 0) => eventFrame(type, { ...payload, p: padding(index) });
  const deltas: Record<Said, (piece: string) => Json> = {
    text: (text) => ({ text }),
    thinking: (text) => ({ reasoningContent: { text } }),
    arguments: (input) => ({ toolUse: { input } }),
  };
  const begun = { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'tooluse_1', name: 'write' } } };
  const usage = { inputTokens: 310, outputTokens: count, totalTokens: 310 + count };
  const stopReason = said === 'arguments' ? 'tool_use' : 'end_turn';
  return {
    contentType: 'application/vnd.amazon.eventstream',
    begin: Buffer.concat([
      frame('messageStart', { role: 'assistant' }),
      ...(said === 'arguments' ? [frame('contentBlockStart', begun)] : []),
    ]),
    events: pieces(said, count).map((piece, index) =>
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: deltas[said](piece) }, index),
    ),
    end: Buffer.concat([
      frame('contentBlockStop', { contentBlockIndex: 0 }),
      frame('messageStop', { stopReason }),
      frame('metadata', { usage, metrics: { latencyMs: 5 } }),
    ]),
  };
};

export const upstreamStreams: Record<UpstreamWire, Write> = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  'gemini-generate': gemini,
  'bedrock-converse': converse,
};

export const clientWires = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate'] as const;
export type ClientWire = (typeof clientWires)[number];
export const upstreamWires = [...clientWires, 'bedrock-converse'] as const;
export type UpstreamWire = (typeof upstreamWires)[number];
export const saidKinds = ['text', 'thinking', 'arguments'] as const;
/** The content of nearly all events of a stream. */
export type Said = (typeof saidKinds)[number];

export interface Conversation {
  client: ClientWire;
  upstream: UpstreamWire;
  said: Said;
  pace: 'full' | 'paced';
}

export const conversationEvents = { full: 1000, paced: 30 };

/** The model name of a conversation. */
export function modelOf({ upstream, said, pace }: Omit<Conversation, 'client'>): string {
  return `conversation.${upstream}.${said}.${pace}`;
}

/** All models of a provider with this API. */
export function modelsOf(upstream: UpstreamWire): string[] {
  return saidKinds.flatMap((said) => (['full', 'paced'] as const).map((pace) => modelOf({ upstream, said, pace })));
}

export interface UpstreamStream {
  contentType: string;
  begin: Buffer;
  events: Buffer[];
  end: Buffer;
}

const modelName = /conversation\.([a-z-]+)\.(text|thinking|arguments)\.(full|paced)/;
const prepared = new Map<string, { pace: Conversation['pace']; stream: UpstreamStream }>();

/** The answer of the model named in a request; null if it names none of these models. */
export function answerOf(request: string): { pace: Conversation['pace']; stream: UpstreamStream } | null {
  const [model, upstream, said, pace] = modelName.exec(request) ?? [];
  if (model === undefined) return null;
  const known = prepared.get(model);
  if (known) return known;
  const asked = { upstream, said, pace } as Omit<Conversation, 'client'>;
  const write = upstreamStreams[asked.upstream];
  const answer = { pace: asked.pace, stream: write(asked.said, conversationEvents[asked.pace]) };
  prepared.set(model, answer);
  return answer;
}

const question = 'Explain what a reverse proxy does, and when one is useful.';
const tool = { name: 'write', description: 'Writes a text', parameters: { type: 'object', properties: {} } };

const requests: Record<ClientWire, (model: string, hasTool: boolean) => [path: string, body: object]> = {
  'openai-chat': (model, hasTool) => [
    '/v1/chat/completions',
    {
      ...{ model, stream: true, messages: [{ role: 'user', content: question }] },
      ...(hasTool && { tools: [{ type: 'function', function: tool }] }),
    },
  ],
  'openai-responses': (model, hasTool) => [
    '/v1/responses',
    { model, stream: true, store: false, input: question, ...(hasTool && { tools: [{ type: 'function', ...tool }] }) },
  ],
  'anthropic-messages': (model, hasTool) => [
    '/v1/messages',
    {
      ...{ model, stream: true, max_tokens: 4096, messages: [{ role: 'user', content: question }] },
      ...(hasTool && { tools: [{ name: tool.name, input_schema: tool.parameters }] }),
    },
  ],
  'gemini-generate': (model, hasTool) => [
    `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    {
      contents: [{ role: 'user', parts: [{ text: question }] }],
      ...(hasTool && { tools: [{ functionDeclarations: [tool] }] }),
    },
  ],
};

/** The whole request as sent over the socket. */
export function buildConversation(conversation: Conversation, { port }: Address): Buffer {
  const [path, value] = requests[conversation.client](modelOf(conversation), conversation.said === 'arguments');
  const body = Buffer.from(JSON.stringify(value));
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${clientKey}`,
    'anthropic-version: 2023-06-01',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

const endings: Record<ClientWire, string> = {
  'openai-chat': 'data: [DONE]',
  'openai-responses': '"type":"response.completed"',
  'anthropic-messages': '"type":"message_stop"',
  'gemini-generate': '"finishReason":"STOP"',
};

/**
 * Whether the body is a complete stream with all events. A client of Gemini's API receives the arguments of a call in
 * one event.
 */
export function isWholeConversation({ client, said, pace }: Conversation, body: Buffer): boolean {
  const isOneCall = client === 'gemini-generate' && said === 'arguments';
  const least = isOneCall ? 1 : conversationEvents[pace];
  let events = 0;
  for (let at = body.indexOf('data:'); at !== -1; at = body.indexOf('data:', at + 1)) events++;
  return events >= least && body.includes(endings[client]);
}
