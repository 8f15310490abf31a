/**
 * The worst requests and answers, for every pair of APIs: whoever asks for something else meanwhile waits for none of them, and
 * the memory that they took is given back.
 *
 * @suite long
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConversationWire } from '../../../server/contract/operations.ts';
import { type HeavyAnswer, HeavyNeighbours } from './heavy-neighbours.ts';

const neighbours = new HeavyNeighbours();
beforeAll(() => neighbours.start(), 60_000);
afterAll(() => neighbours.stop());

/** In one go, most of these took more than a second, and the largest 2 to 13. A busy machine adds some. */
const mostWaitMs = 400;
const mostKeptBytes = 150 * 1024 * 1024;
const calls = 100_000;

type Asked = 'streamed' | 'whole';

const times = (count: number, item: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');

/** What a client asks the provider `of-…`, with this as what its user says; it gets the path and the body. */
const requests: Record<
  ConversationWire,
  (model: string, asked: Asked, said?: string) => { path: string; body: string }
> = {
  'openai-chat': (model, asked, said = '"x"') => ({
    path: '/v1/chat/completions',
    body: `{"model":"${model}","stream":${asked === 'streamed'},"messages":[{"role":"user","content":${said}}]}`,
  }),
  'openai-responses': (model, asked, said = '"x"') => ({
    path: '/v1/responses',
    body: `{"model":"${model}","stream":${asked === 'streamed'},"store":false,"input":[{"role":"user","content":${said}}]}`,
  }),
  'anthropic-messages': (model, asked, said = '"x"') => ({
    path: '/v1/messages',
    body: `{"model":"${model}","stream":${asked === 'streamed'},"max_tokens":9,"messages":[{"role":"user","content":${said}}]}`,
  }),
  'gemini-generate': (model, asked, said = '[{"text":"x"}]') => ({
    path: `/v1beta/models/${model}:${asked === 'streamed' ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: `{"contents":[{"role":"user","parts":${said}}]}`,
  }),
};
const clients = Object.keys(requests) as ConversationWire[];

/** A part of what the user says. */
const blockOf: Record<ConversationWire, string> = {
  'openai-chat': '{"type":"text","text":"x"}',
  'openai-responses': '{"type":"input_text","text":"x"}',
  'anthropic-messages': '{"type":"text","text":"x"}',
  'gemini-generate': '{"text":"x"}',
};

/** Two long lists that refer to each other: calls of tools, and their results in the reverse order. */
const referring: Record<ConversationWire, (model: string, count: number) => { path: string; body: string }> = {
  'openai-chat': (model, count) => ({
    path: '/v1/chat/completions',
    body: `{"model":"${model}","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[${times(
      count,
      (index) => `{"id":"c${index}","type":"function","function":{"name":"x","arguments":"{}"}}`,
    )}]},${times(count, (index) => `{"role":"tool","tool_call_id":"c${count - 1 - index}","content":"y"}`)}]}`,
  }),
  'openai-responses': (model, count) => ({
    path: '/v1/responses',
    body: `{"model":"${model}","store":false,"input":[{"role":"user","content":"x"},${times(
      count,
      (index) => `{"type":"function_call","call_id":"c${index}","name":"x","arguments":"{}"}`,
    )},${times(count, (index) => `{"type":"function_call_output","call_id":"c${count - 1 - index}","output":"y"}`)}]}`,
  }),
  'anthropic-messages': (model, count) => ({
    path: '/v1/messages',
    body: `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[${times(
      count,
      (index) => `{"type":"tool_use","id":"c${index}","name":"x","input":{}}`,
    )}]},{"role":"user","content":[${times(count, (index) => `{"type":"tool_result","tool_use_id":"c${count - 1 - index}","content":"y"}`)}]}]}`,
  }),
  'gemini-generate': (model, count) => ({
    path: `/v1beta/models/${model}:generateContent`,
    body: `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[${times(
      count,
      (index) => `{"functionCall":{"id":"c${index}","name":"x","args":{}}}`,
    )}]},{"role":"user","parts":[${times(count, (index) => `{"functionResponse":{"id":"c${count - 1 - index}","name":"x","response":{}}}`)}]}]}`,
  }),
};

const sse = (events: readonly string[]): HeavyAnswer => ({
  type: 'text/event-stream',
  body: events.map((data) => `data: ${data}\n\n`).join(''),
});
const whole = (body: string): HeavyAnswer => ({ type: 'application/json', body });
const delta = (members: string, finish = 'null') =>
  `{"id":"c","choices":[{"index":0,"delta":{${members}},"finish_reason":${finish}}]}`;
const completion = (members: string, finish: string) =>
  whole(
    `{"id":"c","object":"chat.completion","choices":[{"index":0,"finish_reason":"${finish}","message":{"role":"assistant",${members}}}]}`,
  );
const chatCall = (index: number, given = '{}') =>
  `{"index":${index},"id":"c${index}","type":"function","function":{"name":"x","arguments":"${given}"}}`;
const claudeMessage = (content: string, stop: string) =>
  `{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"${stop}","content":[${content}],"usage":{"input_tokens":1,"output_tokens":1}}`;
const functionCall = '{"functionCall":{"name":"x","args":{}}}';
const outputCall = (index: number) =>
  `{"type":"function_call","id":"f${index}","call_id":"c${index}","name":"x","arguments":"{}"}`;
const generated = (parts: string) =>
  `{"candidates":[{"content":{"role":"model","parts":[${parts}]},"finishReason":"STOP"}]}`;
const response = (output: string) =>
  `{"id":"r","object":"response","created_at":1,"model":"m","status":"completed","output":[${output}]}`;
const indexes = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Each is made when it is asked for, and given up afterwards. */
const answers: Record<ConversationWire, Record<string, [Asked, () => HeavyAnswer]>> = {
  'openai-chat': {
    'calls in one event': [
      'streamed',
      () =>
        sse([delta(`"tool_calls":[${times(calls, (index) => chatCall(index))}]`), delta('', '"tool_calls"'), '[DONE]']),
    ],
    'calls that alternate': [
      'streamed',
      () =>
        sse([
          ...indexes(calls).map((index) => delta(`"tool_calls":[${chatCall(index, '')}]`)),
          ...indexes(calls).map((index) => delta(`"tool_calls":[{"index":${index},"function":{"arguments":"{}"}}]`)),
          ...[delta('', '"tool_calls"'), '[DONE]'],
        ]),
    ],
    'lines of one event': [
      'streamed',
      () =>
        sse([
          delta('"content":"x"'),
          `{"choices":[{"index":0,"delta":{"content":"x"}}],"x":[\n${'data: 1,\n'.repeat(1_000_000)}data: 1]}`,
          ...[delta('', '"stop"'), '[DONE]'],
        ]),
    ],
    'a text of 60 MB in one event': [
      'streamed',
      () => sse([delta(`"content":"${'x'.repeat(60_000_000)}"`), delta('', '"stop"'), '[DONE]']),
    ],
    'calls of a whole answer': [
      'whole',
      () => completion(`"tool_calls":[${times(calls, (index) => chatCall(index))}]`, 'tool_calls'),
    ],
    // Whole answers of more than 32 MB are refused.
    'a whole text of 30 MB': ['whole', () => completion(`"content":"${'x'.repeat(30_000_000)}"`, 'stop')],
  },
  'gemini-generate': {
    'calls in one event': ['streamed', () => sse([generated(times(calls, () => functionCall))])],
    'texts in one event': ['streamed', () => sse([generated(times(300_000, () => '{"text":"x"}'))])],
    'calls of a whole answer': ['whole', () => whole(generated(times(calls, () => functionCall)))],
  },
  'anthropic-messages': {
    'calls of a whole answer': [
      'whole',
      () =>
        whole(
          claudeMessage(
            times(calls, (index) => `{"type":"tool_use","id":"t${index}","name":"x","input":{}}`),
            'tool_use',
          ),
        ),
    ],
    'texts of a whole answer': [
      'whole',
      () =>
        whole(
          claudeMessage(
            times(300_000, () => '{"type":"text","text":"x"}'),
            'end_turn',
          ),
        ),
    ],
  },
  'openai-responses': {
    'calls of a whole answer': ['whole', () => whole(response(times(calls, outputCall)))],
    'calls in one event': [
      'streamed',
      () =>
        sse([
          '{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}',
          `{"type":"response.completed","response":${response(times(calls, outputCall))}}`,
        ]),
    ],
  },
};
/** A short answer. */
const greetings: Record<ConversationWire, HeavyAnswer> = {
  'openai-chat': completion('"content":"Hello"', 'stop'),
  'openai-responses': whole(
    response(
      '{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[]}]}',
    ),
  ),
  'anthropic-messages': whole(claudeMessage('{"type":"text","text":"Hello"}', 'end_turn')),
  'gemini-generate': whole(generated('{"text":"Hello"}')),
};

const pairs = clients.flatMap((client) =>
  clients.flatMap((upstream) => (client === upstream ? [] : [[client, upstream] as const])),
);

async function expectNoWait(path: string, body: string): Promise<number> {
  let status = 0;
  const waited = await neighbours.leastWaitDuring(async () => {
    ({ status } = await neighbours.ask(path, body));
  }, mostWaitMs);
  expect(waited).toBeLessThan(mostWaitMs);
  return status;
}

/** Nothing but plain chats, by which the collector of garbage gets its turns. */
const plainChats = (ms: number) =>
  neighbours.longestWaitDuring(() => new Promise((resolve) => setTimeout(resolve, ms)));

test('a minute after a million small blocks the program is as small as after plain chats', async () => {
  await plainChats(20_000);
  const mostBytes = neighbours.rssBytes() + mostKeptBytes;
  neighbours.answer = greetings['anthropic-messages'];
  const blocks = `[${times(1_000_000, () => blockOf['openai-chat'])}]`;
  const { path, body } = requests['openai-chat']('of-anthropic-messages', 'whole', blocks);
  const { status } = await neighbours.ask(path, body);
  expect([200, 413]).toContain(status);
  if (status === 200) expect(neighbours.rssBytes()).toBeGreaterThan(mostBytes);
  for (let seconds = 0; seconds < 60 && neighbours.rssBytes() > mostBytes; seconds++) await plainChats(1_000);
  expect(neighbours.rssBytes()).toBeLessThan(mostBytes);
}, 180_000);

describe.each(pairs)('a client of %s, at a provider of %s, delays no one', (client, upstream) => {
  const model = `of-${upstream}`;

  test.each(Object.entries(answers[upstream]))(
    'with %s',
    async (_name, [asked, answerOf]) => {
      neighbours.answer = answerOf();
      const { path, body } = requests[client](model, asked);
      expect(await expectNoWait(path, body)).toBe(200);
    },
    300_000,
  );

  test('with two long lists that refer to each other', async () => {
    neighbours.answer = greetings[upstream];
    const { path, body } = referring[client](model, 50_000);
    expect([200, 400, 413]).toContain(await expectNoWait(path, body));
  }, 300_000);

  test('with a million small blocks', async () => {
    neighbours.answer = greetings[upstream];
    const { path, body } = requests[client](model, 'whole', `[${times(1_000_000, () => blockOf[client])}]`);
    // Where half of the heap is less than they take, they are refused.
    expect([200, 413]).toContain(await expectNoWait(path, body));
  }, 300_000);

  test('with a text of 60 MB', async () => {
    neighbours.answer = greetings[upstream];
    const text = `"${'x'.repeat(60_000_000)}"`;
    const { path, body } = requests[client](model, 'whole', client === 'gemini-generate' ? `[{"text":${text}}]` : text);
    expect([200, 413]).toContain(await expectNoWait(path, body));
  }, 300_000);
});
