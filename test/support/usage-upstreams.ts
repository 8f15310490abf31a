/**
 * One upstream per API, which answers with a text of any length, a call of a tool whose arguments look like usage, and
 * the usage object that a test wants, at the place where the API reports it.
 */
import type { ServerResponse } from 'node:http';
import type { Json } from '../server/apis/translation/translating.ts';
import { event as claudeEvent } from './strict-anthropic.ts';
import { bedrockKey, eventFrame, frame } from './strict-bedrock.ts';
import { type ScriptedUpstream, sendPieces, startUpstream } from './upstream.ts';

export interface Said {
  text: string;
  usage: Json;
  /** Whether a whole answer has its usage before its text. */
  isUsageFirst?: boolean;
  /** More members at the end of a whole answer. */
  after?: Json;
  /** What Gemini's events before the last one count. */
  promptTokens?: number;
  /** The event of a chat that has its usage; by default, one of its own at the end. */
  usageChunk?: Json;
  /** What a chat sends after its end. */
  afterEnd?: Json;
  /** What Claude's first event has before its usage. */
  startNote?: string;
  /** Whether it arrives one byte a chunk. */
  isInBytes?: boolean;
}

export interface UsageUpstream {
  model: string;
  config: Json;
  /** Path of its base URL. */
  basePath: string;
  secret: string;
  whole(said: Said): Json;
  stream(said: Said): Buffer;
  streamType: string;
}

/** Looks like the usage of every API. */
const echo = {
  usage: { prompt_tokens: 777, completion_tokens: 777, input_tokens: 777, output_tokens: 777, inputTokens: 777 },
  usageMetadata: { promptTokenCount: 777, candidatesTokenCount: 777 },
};
const call = { nested: [echo], ...echo };

const piecesOf = (text: string) => text.match(/.{1,400}/gs) ?? [];
const lines = (events: readonly Json[]) =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

function ordered({ isUsageFirst = false, after = {} }: Said, usage: Json, body: Json): Json {
  return isUsageFirst ? { ...usage, ...body, ...after } : { ...body, ...usage, ...after };
}

const chatCall = { id: 'call_1', type: 'function', function: { name: 'echo', arguments: JSON.stringify(call) } };
const chunk = (delta: Json, finish: string | null, more: Json = { usage: null }) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});

const chat: Pick<UsageUpstream, 'whole' | 'stream' | 'streamType'> = {
  whole: (said) => {
    const message = { role: 'assistant', content: said.text, tool_calls: [chatCall] };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    return ordered(
      said,
      { usage: said.usage },
      { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices },
    );
  },
  stream: ({ text, usage, usageChunk, afterEnd }) =>
    Buffer.concat([
      lines([
        ...piecesOf(text).map((content) => chunk({ content }, null)),
        chunk({ tool_calls: [{ index: 0, ...chatCall }] }, null),
        chunk({}, 'tool_calls'),
        usageChunk ?? { ...chunk({}, null), choices: [], usage },
      ]),
      Buffer.from('data: [DONE]\n\n'),
      lines(afterEnd ? [afterEnd] : []),
    ]),
  streamType: 'text/event-stream',
};

const responseItems = (text: string) => [
  {
    ...{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' },
    content: [{ type: 'output_text', text, annotations: [] }],
  },
  {
    ...{ id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'echo' },
    arguments: JSON.stringify(call),
  },
];

const responses: typeof chat = {
  whole: (said) => {
    const frame = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm' };
    return ordered(said, { usage: said.usage }, { ...frame, output: responseItems(said.text) });
  },
  stream: (said) => {
    const whole = responses.whole(said);
    const [message = {}, called = {}] = responseItems(said.text);
    return lines([
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
      ...piecesOf(said.text).map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta })),
      { type: 'response.output_item.done', output_index: 0, item: message },
      { type: 'response.output_item.added', output_index: 1, item: { ...called, arguments: '' } },
      { type: 'response.output_item.done', output_index: 1, item: called },
      { type: 'response.completed', response: whole },
    ]);
  },
  streamType: 'text/event-stream',
};

function claudeEvents({ text, usage, startNote }: Said): Json[] {
  const frame = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
  const block = (index: number, content_block: Json, deltas: readonly Json[]) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const { output_tokens, output_tokens_details, ...input } = usage;
  return [
    {
      type: 'message_start',
      message: { ...frame, ...(startNote && { note: startNote }), usage: { ...input, output_tokens: 1 } },
    },
    ...block(
      0,
      { type: 'text', text: '' },
      piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
    ),
    // Some servers send the input with the beginning of its block.
    ...block(1, { type: 'tool_use', id: 'toolu_1', name: 'echo', input: call }, []),
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: null, output_tokens, output_tokens_details },
    },
    { type: 'message_stop' },
  ];
}

const claude: typeof chat = {
  whole: (said) => {
    const content = [
      { type: 'text', text: said.text },
      { type: 'tool_use', id: 'toolu_1', name: 'echo', input: call },
    ];
    const frame = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
    return ordered(said, { usage: said.usage }, { ...frame, content, stop_reason: 'tool_use', stop_sequence: null });
  },
  stream: (said) => Buffer.from(claudeEvents(said).map(claudeEvent).join('')),
  streamType: 'text/event-stream',
};

const geminiAnswer = (parts: readonly Json[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
});
const geminiCall = { functionCall: { name: 'echo', args: call } };

const gemini: typeof chat = {
  whole: (said) =>
    ordered(said, { usageMetadata: said.usage }, geminiAnswer([{ text: said.text }, geminiCall], 'STOP')),
  stream: ({ text, usage, promptTokens }) =>
    lines([
      ...piecesOf(text).map((piece) => ({
        ...geminiAnswer([{ text: piece }]),
        usageMetadata: { promptTokenCount: promptTokens ?? usage.promptTokenCount, candidatesTokenCount: 1 },
      })),
      { ...geminiAnswer([geminiCall], 'STOP'), usageMetadata: usage },
    ]),
  streamType: 'text/event-stream',
};

const converse: typeof chat = {
  whole: (said) => {
    const content = [{ text: said.text }, { toolUse: { toolUseId: 't1', name: 'echo', input: call } }];
    const output = { message: { role: 'assistant', content } };
    return ordered(said, { usage: said.usage }, { output, stopReason: 'tool_use' });
  },
  stream: ({ text, usage }) => {
    const delta = (contentBlockIndex: number, delta: Json) => ({ contentBlockDelta: { contentBlockIndex, delta } });
    const toolUse = { toolUseId: 't1', name: 'echo' };
    const events: Json[] = [
      { messageStart: { role: 'assistant' } },
      ...piecesOf(text).map((piece) => delta(0, { text: piece })),
      { contentBlockStop: { contentBlockIndex: 0 } },
      { contentBlockStart: { contentBlockIndex: 1, start: { toolUse } } },
      delta(1, { toolUse: { input: JSON.stringify(call) } }),
      { contentBlockStop: { contentBlockIndex: 1 } },
      { messageStop: { stopReason: 'tool_use' } },
      { metadata: { usage, metrics: { latencyMs: 5 } } },
    ];
    return Buffer.concat(
      events.flatMap((event) => Object.entries(event).map(([type, value]) => eventFrame(type, value as Json))),
    );
  },
  streamType: 'application/vnd.amazon.eventstream',
};

const clouds = '/v1/projects/p1/locations/us-east5';

export const usageUpstreams = {
  chat: { ...chat, model: 'grok-4.20-0309-reasoning', config: { serves: ['chat'] }, basePath: '/v1', secret: 'k' },
  responses: { ...responses, model: 'gpt-5.4', config: { serves: ['responses'] }, basePath: '/v1', secret: 'k' },
  anthropic: { ...claude, model: 'claude-opus-5-5', config: { dialect: 'anthropic' }, basePath: '', secret: 'k' },
  gemini: { ...gemini, model: 'gemini-3-pro', config: { dialect: 'gemini' }, basePath: '/v1beta', secret: 'k' },
  converse: {
    ...converse,
    ...{ model: 'openai.gpt-oss-120b-1:0', config: { dialect: 'bedrock' }, basePath: '', secret: bedrockKey },
  },
  'invoke-model': {
    ...claude,
    stream: (said: Said) => Buffer.concat(claudeEvents(said).map(frame)),
    streamType: 'application/vnd.amazon.eventstream',
    ...{ model: 'anthropic.claude-opus-4-5-20251101-v1:0', config: { dialect: 'bedrock' } },
    ...{ basePath: '', secret: bedrockKey },
  },
  'vertex-claude': {
    ...claude,
    ...{ model: 'claude-opus-4-5@20251101', config: { dialect: 'vertex' }, basePath: clouds, secret: 'ya29.test' },
  },
  'vertex-gemini': {
    ...gemini,
    ...{ model: 'gemini-2.5-pro', config: { dialect: 'vertex' }, basePath: clouds, secret: 'ya29.test' },
  },
} satisfies Record<string, UsageUpstream>;

/** Answers as `said` tells at the time. */
export function startUsageUpstream(api: UsageUpstream, said: () => Said): Promise<ScriptedUpstream> {
  return startUpstream(async ({ url, body }, response: ServerResponse) => {
    const isStream = /stream/i.test(url) || body.includes('"stream":true');
    const now = said();
    const bytes = isStream ? api.stream(now) : Buffer.from(JSON.stringify(api.whole(now)));
    response.writeHead(200, { 'content-type': isStream ? api.streamType : 'application/json' });
    if (!now.isInBytes) response.end(bytes);
    else await sendPieces(response, bytes, [...bytes.keys()].slice(1));
  });
}
