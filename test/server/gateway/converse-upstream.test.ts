/** Models on Bedrock that are called through its Converse API. */
import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forgetFailures, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { bodyOf } from '../../support/strict-anthropic.ts';
import {
  bedrockKey,
  converseFramesOf,
  exceptionFrame,
  reasoned,
  sendConverse,
  sendException,
  sendFrames,
  strictConverse,
  toolUse,
} from '../../support/strict-bedrock.ts';
import { oddCuts, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';

const nova = 'us.amazon.nova-pro-v1:0';
const llama = 'us.meta.llama3-3-70b-instruct-v1:0';
const oss = 'openai.gpt-oss-120b-1:0';
const claudeProfile = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-v1:0';
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let chat: OpenAI.Chat.Completions;
let claude: Anthropic;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [mainProvider(upstream.origin, { dialect: 'bedrock', models: [nova, '*'] })],
    },
    secrets: { 'provider/main/c1': bedrockKey },
  });
  chat = gateway.client.chat.completions;
  claude = new Anthropic({ baseURL: gateway.origin, apiKey: null, authToken: testKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(async () => {
  upstream.seen.length = 0;
  await forgetFailures(gateway);
});

const messages = [{ role: 'user' as const, content: 'Hi' }];
const parameters = { type: 'object', properties: { place: { type: 'string' } } };
const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];

async function spoken(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let told = '';
  for await (const { choices } of stream) told += choices[0]?.delta.content ?? '';
  return told;
}

describe('a chat client of a model on Bedrock', () => {
  test('is answered, with what it used', async () => {
    upstream.answer(strictConverse((call, response) => sendConverse(response, call, [{ text: 'Hello there' }])));
    const { data, response } = await chat
      .create({ model: nova, messages: [{ role: 'system', content: 'Be brief.' }, ...messages], temperature: 0.5 })
      .withResponse();
    expect(data.choices).toMatchObject([{ message: { content: 'Hello there' }, finish_reason: 'stop' }]);
    expect(data.usage).toMatchObject({ prompt_tokens: 23, prompt_tokens_details: { cached_tokens: 11 } });
    expect(upstream.seen[0]?.url).toBe('/model/us.amazon.nova-pro-v1%3A0/converse');
    expect(upstream.seen.map(bodyOf)).toEqual([
      {
        messages: [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }],
        system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
        inferenceConfig: { temperature: 0.5 },
      },
    ]);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({
      outcome: 'ok',
      usage: { inputTokens: 23, cachedInputTokens: 11, outputTokens: 9 },
      usageCertainty: 'reported',
    });
  });

  test('is streamed, however the frames are cut, with what it used', async () => {
    const frames = Buffer.concat(converseFramesOf([{ text: 'Hello there' }]));
    upstream.answer(
      strictConverse(async (_call, response) => {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
        await sendPieces(response, frames, oddCuts(frames.length));
      }),
    );
    const { data, response } = await chat.create({ model: nova, messages, stream: true }).withResponse();
    expect(await spoken(data)).toBe('Hello there');
    expect(upstream.seen[0]?.url).toBe('/model/us.amazon.nova-pro-v1%3A0/converse-stream');
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'ok', usage: { inputTokens: 23, outputTokens: 9 } });
  });

  test('calls tools over two turns, with the thought that led to the call', async () => {
    const call = [reasoned('Hm.'), toolUse('tooluse_1', 'weather', { place: 'Bonn' })];
    upstream.answer(
      strictConverse((asked, response) => {
        const isSecond = (asked.body.messages as unknown[]).length > 1;
        if (isSecond) sendConverse(response, asked, [{ text: 'It is wet.' }]);
        else sendConverse(response, asked, call, 'tool_use');
      }),
    );
    const turns: OpenAI.ChatCompletionMessageParam[] = [...messages];
    const first = (await chat.create({ model: oss, messages: turns, tools })).choices[0]?.message;
    turns.push(first ?? expect.unreachable());
    turns.push({ role: 'tool', tool_call_id: first?.tool_calls?.[0]?.id ?? '', content: '' });
    const { choices } = await chat.create({ model: oss, messages: turns, tools });
    expect(choices).toMatchObject([{ message: { content: 'It is wet.' } }]);
    const [, second] = upstream.seen.map(bodyOf);
    expect(second?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: call },
      { role: 'user', content: [{ toolResult: { toolUseId: 'tooluse_1', content: [{ text: '(no output)' }] } }] },
    ]);
  });

  test('is answered without the earlier reasoning by a model that refuses it', async () => {
    const model = 'moonshot.kimi-k2-thinking';
    const call = [reasoned('Hm.'), toolUse('tooluse_1', 'weather', { place: 'Bonn' })];
    upstream.answer(
      strictConverse((asked, response) => {
        const said =
          'User messages cannot contain reasoning content. Please remove the reasoning content and try again.';
        if ((asked.body.messages as unknown[]).length === 1) sendConverse(response, asked, call, 'tool_use');
        else if (!JSON.stringify(asked.body).includes('reasoningContent'))
          sendConverse(response, asked, [{ text: 'It is wet.' }]);
        else sendException(response, 400, 'ValidationException', said);
      }),
    );
    const first = (await chat.create({ model, messages, tools })).choices[0]?.message ?? expect.unreachable();
    const result = { role: 'tool' as const, tool_call_id: first.tool_calls?.[0]?.id ?? '', content: 'wet' };
    const { choices } = await chat.create({ model, messages: [...messages, first, result], tools });
    expect(choices).toMatchObject([{ message: { content: 'It is wet.' } }]);
    expect(upstream.seen.map(({ body }) => body.includes('reasoningContent'))).toEqual([false, true, false]);
  });

  test('has a stream of a model that has no tools in streams', async () => {
    upstream.answer(
      strictConverse((call, response) =>
        call.isStream
          ? sendException(
              response,
              400,
              'ValidationException',
              "This model doesn't support tool use in streaming mode.",
            )
          : sendConverse(response, call, [toolUse('tooluse_1', 'weather', { place: 'Bonn' })], 'tool_use'),
      ),
    );
    const stream = chat.stream({ model: llama, messages, tools });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { arguments: '{"place":"Bonn"}' } }]);
    expect(upstream.seen[0]?.url).toMatch(/\/converse$/);
  });

  test.each([
    [400, 'ValidationException', 'The provided model identifier is invalid.', 404, 'model_not_found'],
    [400, 'ValidationException', 'Malformed input request', 400, null],
    [400, 'ValidationException', 'Input is too long for requested model.', 400, 'context_length_exceeded'],
    [429, 'ThrottlingException', 'Too many requests', 429, 'rate_limit_exceeded'],
    [503, 'ServiceUnavailableException', 'Bedrock is busy', 503, 'server_overloaded'],
    [424, 'ModelErrorException', 'The model failed', 424, null],
    [403, 'AccessDeniedException', 'no access', 502, 'provider_credential_refused'],
  ])('is told of %i %s "%s" as %i %s', async (status, name, said, told, code) => {
    upstream.answer((_request, response) => sendException(response, status, name, said));
    await expect(chat.create({ model: nova, messages })).rejects.toMatchObject({ status: told, code });
  });

  test('is told of an exception within a stream', async () => {
    const frames = converseFramesOf([{ text: 'Hello there' }]).slice(0, 3);
    const exception = exceptionFrame('modelStreamErrorException', 'The model broke off');
    upstream.answer(strictConverse((_call, response) => sendFrames(response, [...frames, exception])));
    const stream = await chat.create({ model: nova, messages, stream: true });
    await expect(spoken(stream)).rejects.toThrow('The model broke off');
  });

  test('is told that a stream broke which ends before its stop', async () => {
    const frames = converseFramesOf([{ text: 'Hello there' }]).slice(0, 4);
    upstream.answer(strictConverse((_call, response) => sendFrames(response, frames)));
    const stream = await chat.create({ model: nova, messages, stream: true });
    await expect(spoken(stream)).rejects.toThrow();
  });
});

describe('a client of Anthropic’s API', () => {
  test('is streamed thinking and a tool of a model on Bedrock', async () => {
    const content = [reasoned('Hm', 'sig='), { text: 'Hello' }, toolUse('tooluse_1', 'weather', { place: 'Bonn' })];
    upstream.answer(strictConverse((call, response) => sendConverse(response, call, content, 'tool_use')));
    const stream = claude.messages.stream({
      model: oss,
      max_tokens: 99,
      messages,
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
    });
    const message = await stream.finalMessage();
    expect(message).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 'tooluse_1', input: { place: 'Bonn' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 12, cache_read_input_tokens: 11, output_tokens: 9 },
    });
  });

  test('is told of a context that is too long', async () => {
    const said = 'prompt is too long: 9001 tokens > 8192 maximum';
    upstream.answer((_request, response) => sendException(response, 400, 'ValidationException', said));
    const failing = claude.messages.create({ model: nova, max_tokens: 99, messages });
    await expect(failing).rejects.toMatchObject({ status: 400, error: { error: { message: said } } });
  });

  test('asks Claude behind an inference profile in its own API', async () => {
    upstream.answer((_request, response) => sendException(response, 429, 'ThrottlingException', 'Later'));
    const failing = claude.messages.create({ model: claudeProfile, max_tokens: 99, messages });
    await expect(failing).rejects.toMatchObject({ status: 429 });
    expect(upstream.seen[0]?.url).toMatch(/claude-sonnet-4-5-v1%3A0\/invoke$/);
  });
});
