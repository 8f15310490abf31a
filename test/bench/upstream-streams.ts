/** Streams of each upstream API, with the counters and the padding in its events. */
import { eventFrame } from '../support/strict-bedrock.ts';
import type { Said, UpstreamStream, UpstreamWire } from './conversations.ts';

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
