/**
 * An upstream that says two words and bills 5,000 hidden tokens of reasoning, on each API. Its usage comes 150 ms after the
 * model has finished, if its API reports it in an event of its own.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../server/apis/translation/translating.ts';
import { anthropicKey } from './strict-anthropic.ts';
import { bedrockKey, eventFrame } from './strict-bedrock.ts';
import { geminiKey } from './strict-gemini.ts';
import { type ScriptedUpstream, startUpstream } from './upstream.ts';

export const billed = { inputTokens: 20, outputTokens: 5_002 };
const usageAfterMs = 150;

/** The answer in parts. The second word is in one write with the finish reason. */
interface Parts {
  contentType: string;
  /** Up to the first word. */
  first: Buffer;
  finish: Buffer;
  usage: Buffer;
  end: Buffer;
}

const data = (...events: Json[]) => Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
const named = (...events: Json[]) =>
  Buffer.from(events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
const nothing = Buffer.alloc(0);
const sse = 'text/event-stream';

const chatUsage = { prompt_tokens: 20, completion_tokens: 5_002, total_tokens: 5_022 };

function chatParts(choice: (word: string) => Json): Parts {
  const chunk = (choices: Json[], more: Json = {}) => ({ id: 'c1', object: 'chunk', model: 'm', choices, ...more });
  const say = (word: string) => chunk([{ index: 0, finish_reason: null, ...choice(word) }]);
  return {
    contentType: sse,
    first: data(say('The')),
    finish: data(say(' end'), chunk([{ index: 0, ...choice(''), finish_reason: 'stop' }])),
    usage: data(chunk([], { usage: { ...chatUsage, completion_tokens_details: { reasoning_tokens: 5_000 } } })),
    end: Buffer.from('data: [DONE]\n\n'),
  };
}

function responsesParts(): Parts {
  const response = (status: string, output: Json[], more: Json = {}) => ({
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status, error: null, output },
    ...more,
  });
  const item = (status: string, text: string) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', status },
    content: status === 'completed' ? [{ type: 'output_text', text, annotations: [] }] : [],
  });
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const delta = (word: string) => ({ type: 'response.output_text.delta', ...at, delta: word });
  const done = item('completed', 'The end');
  const usage = { input_tokens: 20, output_tokens: 5_002, output_tokens_details: { reasoning_tokens: 5_000 } };
  return {
    contentType: sse,
    first: named(
      { type: 'response.created', response: response('in_progress', []) },
      { type: 'response.output_item.added', output_index: 0, item: item('in_progress', '') },
      { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '', annotations: [] } },
      delta('The'),
    ),
    finish: named(
      delta(' end'),
      { type: 'response.output_text.done', ...at, text: 'The end' },
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.completed', response: response('completed', [done], { usage }) },
    ),
    usage: nothing,
    end: nothing,
  };
}

function messagesParts(): Parts {
  const delta = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
  return {
    contentType: sse,
    first: named(
      { type: 'message_start', message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      delta('The'),
    ),
    finish: named(
      delta(' end'),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5_002 } },
    ),
    usage: nothing,
    end: named({ type: 'message_stop' }),
  };
}

function geminiParts(): Parts {
  const candidate = (text: string, more: Json = {}) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
    modelVersion: 'm',
  });
  const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 2, thoughtsTokenCount: 5_000 };
  return {
    contentType: sse,
    first: data({ ...candidate('The'), usageMetadata: { promptTokenCount: 20 } }),
    finish: data(candidate(' end', { finishReason: 'STOP' })),
    usage: data({ candidates: [], usageMetadata }),
    end: nothing,
  };
}

function converseParts(): Parts {
  const delta = (text: string) => eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } });
  const usage = { inputTokens: 20, outputTokens: 5_002, totalTokens: 5_022 };
  return {
    contentType: 'application/vnd.amazon.eventstream',
    first: Buffer.concat([eventFrame('messageStart', { role: 'assistant' }), delta('The')]),
    finish: Buffer.concat([
      delta(' end'),
      eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
      eventFrame('messageStop', { stopReason: 'end_turn' }),
    ]),
    usage: eventFrame('metadata', { usage, metrics: { latencyMs: 5 } }),
    end: nothing,
  };
}

/** As Gemini sends it without `alt=sse`: one growing array. */
function asArray({ first, finish, usage }: Parts): Parts {
  const elements = (events: Buffer, mark: string) =>
    Buffer.from(mark + events.toString().trim().replaceAll('\n\ndata: ', ',').replace('data: ', ''));
  return {
    contentType: 'application/json',
    first: elements(first, '['),
    finish: elements(finish, ','),
    usage: elements(usage, ','),
    end: Buffer.from(']'),
  };
}

export type ThinkingApi = 'chat' | 'completions' | 'responses' | 'messages' | 'gemini' | 'converse';

const answers: Record<ThinkingApi, Parts> = {
  chat: chatParts((content) => ({ delta: content === '' ? {} : { content } })),
  completions: chatParts((text) => ({ text })),
  responses: responsesParts(),
  messages: messagesParts(),
  gemini: geminiParts(),
  converse: converseParts(),
};

/** The configuration of a provider of this API, below the upstream's origin. */
export const thinkingProviders: Record<ThinkingApi, { path: string; config: Json; model: string; secret: string }> = {
  chat: { path: '/v1', config: { serves: ['chat'] }, model: 'kimi-k2-thinking', secret: 'k' },
  completions: { path: '/v1', config: {}, model: 'gpt-x', secret: 'k' },
  responses: { path: '/v1', config: { serves: ['responses'] }, model: 'gpt-5.4', secret: 'k' },
  messages: { path: '', config: { dialect: 'anthropic' }, model: 'claude-opus-5-5', secret: anthropicKey },
  gemini: { path: '/v1beta', config: { dialect: 'gemini' }, model: 'gemini-3-pro', secret: geminiKey },
  converse: { path: '', config: { dialect: 'bedrock' }, model: 'openai.gpt-oss-120b-1:0', secret: bedrockKey },
};

/** What the upstream sends last, before it waits for the other side to leave; null: all. */
export type Halt = 'first' | 'finish' | null;

export interface ThinkingUpstream {
  readonly upstream: ScriptedUpstream;
  /** Answers that were cut before their end. */
  cut: number;
  /** Answers whose usage has been sent. */
  counted: number;
  halt: Halt;
  /** Awaited after the first word. */
  hold: Promise<void> | null;
}

export async function startThinkingUpstream(api: ThinkingApi): Promise<ThinkingUpstream> {
  const upstream = await startUpstream();
  const thinking: ThinkingUpstream = { upstream, cut: 0, counted: 0, halt: null, hold: null };
  upstream.answer(async ({ url }, response) => {
    response.on('close', () => {
      if (!response.writableEnded) thinking.cut++;
    });
    const isArray = api === 'gemini' && !url.includes('alt=sse');
    await send(response, isArray ? asArray(answers[api]) : answers[api], thinking);
  });
  return thinking;
}

async function send(response: ServerResponse, parts: Parts, thinking: ThinkingUpstream): Promise<void> {
  response.writeHead(200, { 'content-type': parts.contentType });
  response.write(parts.first);
  if (thinking.halt === 'first') return;
  await thinking.hold;
  // In a turn of its own, so that the first word is read alone.
  await delay(turnMs);
  response.write(parts.finish);
  if (thinking.halt === 'finish') return;
  await delay(usageAfterMs);
  response.write(parts.usage);
  thinking.counted++;
  await delay(turnMs);
  response.end(parts.end);
}

const turnMs = 100;
