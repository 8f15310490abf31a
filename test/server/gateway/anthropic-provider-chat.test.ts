/** OpenAI's SDK with a provider that only implements Anthropic's Messages. */
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { anthropicKey, bodyOf, send, strictAnthropic, text, thought, toolUse } from '../../support/strict-anthropic.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startUpstream();
  const provider = mainProvider(upstream.origin, { dialect: 'anthropic' });
  gateway = await startGateway({
    config: { providers: [provider] },
    secrets: { 'provider/main/c1': anthropicKey },
  });
  ({ client } = gateway);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const model = 'claude-opus-5-5';
const hello = { model, messages: [{ role: 'user' as const, content: 'Hi' }] };
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather of a place',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
};

test('a chat is answered by a provider that only serves messages', async () => {
  upstream.answer(strictAnthropic((body, response) => send(response, body, [text('Hello there')])));
  const messages = [{ role: 'system' as const, content: 'Be brief.' }, ...hello.messages];
  const { data, response } = await client.chat.completions.create({ ...hello, messages }).withResponse();
  expect(data).toMatchObject({
    object: 'chat.completion',
    model,
    choices: [{ message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 23,
      completion_tokens: 9,
      total_tokens: 32,
      prompt_tokens_details: { cached_tokens: 11 },
    },
  });
  const [seen] = upstream.seen;
  expect(seen?.url).toBe('/v1/messages');
  expect(seen && bodyOf(seen)).toEqual({
    model,
    max_tokens: 128_000,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    thinking: { type: 'adaptive', display: 'summarized' },
    cache_control: { type: 'ephemeral' },
  });
  expect(seen?.headers).toMatchObject({ 'x-api-key': anthropicKey, 'anthropic-version': '2023-06-01' });
  expect(seen?.headers).not.toHaveProperty('authorization');
  expect(seen?.headers).not.toHaveProperty('anthropic-beta');
  expect(JSON.stringify(seen?.headers)).not.toContain(testKey);
  expect(await gateway.record(response.headers.get('x-sluice-request-id') ?? '')).toMatchObject({
    route: '/v1/chat/completions',
    provider: 'main',
    outcome: 'ok',
    usage: { inputTokens: 23, outputTokens: 9, cachedInputTokens: 11, cacheWriteTokens: 7 },
    usageCertainty: 'reported',
  });
});

test('a stream comes through the SDK’s helper as the completion that it makes', async () => {
  upstream.answer(strictAnthropic((body, response) => send(response, body, [thought('Hm…'), text('Hello')])));
  const asked = { ...hello, stream_options: { include_usage: true } };
  const stream = client.chat.completions.stream(asked);
  const texts: string[] = [];
  stream.on('content', (delta) => texts.push(delta));
  const completion = await stream.finalChatCompletion();
  expect(texts).toEqual(['Hel', 'lo']);
  expect(completion).toMatchObject({
    choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 23, completion_tokens: 9 },
  });
  const [seen] = upstream.seen;
  expect(seen && bodyOf(seen)).toMatchObject({ stream: true });
});

test('tools are called over three turns, two at a time, and their results come back', async () => {
  const turns = [
    [
      text('Let me look.'),
      toolUse('toolu_1', 'weather', { place: 'Bonn' }),
      toolUse('toolu_2', 'weather', { place: 'Rome' }),
    ],
    [toolUse('toolu_3', 'weather', { place: 'Oslo' })],
    [text('Bonn is wet, the others are dry.')],
  ];
  for (const stream of [false, true]) {
    upstream.seen.length = 0;
    upstream.answer(
      strictAnthropic((body, response) => {
        const turn =
          turns[(body.messages as { role: string }[]).filter(({ role }) => role === 'assistant').length] ?? [];
        send(response, body, turn, turn.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn');
      }),
    );
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Bonn or Rome?' }];
    for (;;) {
      const message = await ask(messages, stream);
      messages.push(message);
      if (!message.tool_calls?.length) break;
      for (const call of message.tool_calls)
        messages.push({ role: 'tool', tool_call_id: call.id, content: `weather for ${call.id}` });
    }
    expect(messages.at(-1)).toMatchObject({ content: 'Bonn is wet, the others are dry.' });
    const last = upstream.seen.at(-1);
    expect(upstream.seen.length).toBe(3);
    expect(last && bodyOf(last)).toMatchObject({
      tools: [{ name: 'weather', input_schema: weather.function.parameters }],
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'toolu_1', input: { place: 'Bonn' } },
            { type: 'tool_use', id: 'toolu_2', input: { place: 'Rome' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ text: 'weather for toolu_1' }] },
            { type: 'tool_result', tool_use_id: 'toolu_2' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_3' }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_3' }] },
      ],
    });
  }
});

/** Runs one turn with tools, whole or streamed, as the SDK assembles it. */
async function ask(messages: OpenAI.ChatCompletionMessageParam[], stream: boolean) {
  const asked = { model, messages, tools: [weather] };
  const completion = stream
    ? await client.chat.completions.stream(asked).finalChatCompletion()
    : await client.chat.completions.create(asked);
  const message = completion.choices[0]?.message;
  if (!message) throw new Error('There is no choice.');
  return message;
}
