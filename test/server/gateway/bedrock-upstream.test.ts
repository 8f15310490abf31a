import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forgetFailures, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { bodyOf, text, thought, toolUse } from '../../support/strict-anthropic.ts';
import {
  bedrockKey,
  exceptionFrame,
  framesOf,
  send,
  sendException,
  sendFrames,
  strictBedrock,
  strictCount,
} from '../../support/strict-bedrock.ts';
import { oddCuts, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';

const model = 'us.anthropic.claude-opus-4-5-20251101-v1:0';
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let chat: OpenAI;
let claude: Anthropic;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [mainProvider(upstream.origin, { dialect: 'bedrock', models: [model, '*'] })],
    },
    secrets: { 'provider/main/c1': bedrockKey },
  });
  chat = gateway.client;
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

const asked = { model, max_tokens: 99, messages: [{ role: 'user' as const, content: 'Hi' }] };
const weather = {
  name: 'weather',
  input_schema: { type: 'object' as const, properties: { place: { type: 'string' } } },
};

describe('a client of Anthropic’s API', () => {
  test('is answered, with what it used', async () => {
    upstream.answer(strictBedrock((call, response) => send(response, call, [text('Hello there')])));
    const { data, response } = await claude.messages.create({ ...asked, system: 'Be brief.' }).withResponse();
    expect(data).toMatchObject({ content: [{ type: 'text', text: 'Hello there' }], stop_reason: 'end_turn' });
    expect(upstream.seen[0]?.url).toBe('/model/us.anthropic.claude-opus-4-5-20251101-v1%3A0/invoke');
    expect(upstream.seen[0]?.headers.authorization).toBe(`Bearer ${bedrockKey}`);
    expect(upstream.seen.map(bodyOf)).toEqual([
      {
        max_tokens: 99,
        messages: [{ role: 'user', content: 'Hi' }],
        system: 'Be brief.',
        anthropic_version: 'bedrock-2023-05-31',
      },
    ]);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({
      outcome: 'ok',
      usage: { inputTokens: 23, outputTokens: 9 },
      usageCertainty: 'reported',
    });
  });

  test('is streamed, with thinking and a tool', async () => {
    upstream.answer(
      strictBedrock((call, response) =>
        send(
          response,
          call,
          [thought('Hm'), text('Hello'), toolUse('toolu_1', 'weather', { place: 'Bonn' })],
          'tool_use',
        ),
      ),
    );
    const stream = claude.messages.stream({ ...asked, tools: [weather] });
    const types = new Set<string>();
    stream.on('streamEvent', ({ type }) => types.add(type));
    const { content, stop_reason: reason, usage } = await stream.finalMessage();
    expect(upstream.seen[0]?.url).toBe(
      '/model/us.anthropic.claude-opus-4-5-20251101-v1%3A0/invoke-with-response-stream',
    );
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'Hm', signature: thought('Hm').signature },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'toolu_1', input: { place: 'Bonn' } },
    ]);
    expect([reason, usage.output_tokens]).toEqual(['tool_use', 9]);
    expect([...types]).toContain('message_stop');
  });

  function askWith(betas: string, more: object, headers: Record<string, string> = {}): Promise<Response> {
    upstream.answer(strictBedrock((call, response) => send(response, call, [text('Hello')])));
    return gateway.fetch('/messages?beta=true', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        'anthropic-beta': betas,
        ...headers,
      },
      body: JSON.stringify({ ...asked, ...more }),
    });
  }

  test('has its known betas in the body, and is told of others and their fields', async () => {
    const betas = 'claude-code-20250219, interleaved-thinking-2025-05-14,mcp-client-2025-11-20';
    const { headers } = await askWith(betas, { mcp_servers: [] });
    expect(upstream.seen.map(bodyOf)).toMatchObject([{ anthropic_beta: ['interleaved-thinking-2025-05-14'] }]);
    const told = 'anthropic-beta:mcp-client-2025-11-20;why=no-equal, mcp_servers;why=no-equal';
    expect(headers.get('x-sluice-dropped')).toBe(told);
    const record = await gateway.record(headers.get('x-sluice-request-id') ?? '');
    expect(record.dropped).toEqual([
      { code: 'no-equal', field: 'anthropic-beta:mcp-client-2025-11-20', times: 1 },
      { code: 'no-equal', field: 'mcp_servers', times: 1 },
    ]);
  });

  test('that accepts no losses is refused a beta that Bedrock does not have, but not what only names the client', async () => {
    const refused = await askWith('mcp-client-2025-11-20', {}, { 'x-sluice-lossy': 'refuse' });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('anthropic-beta:mcp-client-2025-11-20');
    expect(upstream.seen).toEqual([]);
    const betas = 'claude-code-20250219,oauth-2025-04-20,interleaved-thinking-2025-05-14';
    const taken = await askWith(betas, {}, { 'x-sluice-lossy': 'refuse' });
    expect([taken.status, taken.headers.get('x-sluice-dropped')]).toEqual([200, null]);
  });

  test.each([
    [400, 'ValidationException', 'prompt is too long: 210000 tokens > 200000 maximum', 400, 'invalid_request_error'],
    [429, 'ThrottlingException', 'Too many requests', 429, 'rate_limit_error'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 400, 'not_found_error'],
  ])('is told of %i %s "%s" as %i %s', async (status, name, said, told, type) => {
    upstream.answer((_request, response) => sendException(response, status, name, said));
    const failing = claude.messages.create(asked);
    await expect(failing).rejects.toMatchObject({
      status: told,
      error: { type: 'error', error: { type, message: said } },
    });
  });

  test('is told of an exception within a stream', async () => {
    const frames = framesOf([text('Hello there')]).slice(0, 4);
    const exception = exceptionFrame('throttlingException', 'Too many tokens');
    upstream.answer(strictBedrock((_call, response) => sendFrames(response, [...frames, exception])));
    const failing = claude.messages.stream(asked).finalMessage();
    await expect(failing).rejects.toMatchObject({
      error: { error: { type: 'rate_limit_error', message: 'Too many tokens' } },
    });
  });

  test('is told that a stream broke which ends within a frame', async () => {
    const frames = Buffer.concat(framesOf([text('Hello there')]).slice(0, 5));
    upstream.answer(strictBedrock((_call, response) => sendFrames(response, [frames.subarray(0, -30)])));
    await expect(claude.messages.stream(asked).finalMessage()).rejects.toMatchObject({ error: { type: 'error' } });
  });

  test('has the whole answer if the stream ends within its last frame, after the reason why the model stopped', async () => {
    const frames = Buffer.concat(framesOf([text('Hello there')]));
    upstream.answer(strictBedrock((_call, response) => sendFrames(response, [frames.subarray(0, -30)])));
    expect(await claude.messages.stream(asked).finalMessage()).toMatchObject({ stop_reason: 'end_turn' });
  });

  test('is told that a stream broke whose frame is damaged', async () => {
    const frames = framesOf([text('Hello there')]);
    const damaged = Buffer.from(frames[4] ?? expect.unreachable());
    damaged[40] = (damaged[40] ?? 0) ^ 1;
    upstream.answer(strictBedrock((_call, response) => sendFrames(response, [...frames.slice(0, 4), damaged])));
    await expect(claude.messages.stream(asked).finalMessage()).rejects.toMatchObject({ error: { type: 'error' } });
  });

  test('has its tokens counted by Bedrock, by the name of the model itself', async () => {
    upstream.answer(strictCount(1234));
    const { data, response } = await claude.messages
      .countTokens(
        { model, messages: asked.messages, tools: [weather], thinking: { type: 'enabled', budget_tokens: 2000 } },
        { headers: { 'anthropic-beta': 'oauth-2025-04-20,context-1m-2025-08-07' } },
      )
      .withResponse();
    expect(data).toEqual({ input_tokens: 1234 });
    expect(response.headers.get('x-sluice-estimated')).toBeNull();
    expect(upstream.seen.map(({ url }) => url)).toEqual([
      '/model/anthropic.claude-opus-4-5-20251101-v1%3A0/count-tokens',
    ]);
    const { input } = upstream.seen.map(bodyOf)[0] as { input: { invokeModel: { body: string } } };
    expect(JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString())).toEqual({
      messages: asked.messages,
      tools: [weather],
      thinking: { type: 'enabled', budget_tokens: 2000 },
      max_tokens: 2001,
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['context-1m-2025-08-07'],
    });
  });

  test.each([
    "The provided model doesn't support counting tokens.",
    'Document input not supported for token counting',
    'User: arn:aws:iam::1:user/me is not authorized to perform: bedrock:CountTokens',
  ])('has an estimate of its tokens where Bedrock says: %s', async (refusal) => {
    upstream.answer(strictCount(1234, refusal));
    const counting = claude.messages.countTokens({ model, messages: asked.messages });
    const { data, response } = await counting.withResponse();
    expect(data.input_tokens).toBeGreaterThan(0);
    expect(response.headers.get('x-sluice-estimated')).toBe('input_tokens');
    upstream.answer(strictBedrock((call, answer) => send(answer, call, [text('Hello')])));
    expect((await claude.messages.create(asked)).content).toMatchObject([{ text: 'Hello' }]);
  });

  test('is told of a request that Bedrock refuses to count', async () => {
    upstream.answer(strictCount(1234, 'messages.0: roles must alternate'));
    const counting = claude.messages.countTokens({ model, messages: asked.messages });
    await expect(counting).rejects.toMatchObject({ status: 400, error: { error: { type: 'invalid_request_error' } } });
  });

  test('has an estimate for a model that Bedrock does not count, without being asked', async () => {
    const counting = claude.messages.countTokens({ model: 'amazon.nova-pro-v1:0', messages: asked.messages });
    expect((await counting).input_tokens).toBeGreaterThan(0);
    expect(upstream.seen).toEqual([]);
  });
});

test('a client of Gemini’s API has the tokens counted of a Claude on Bedrock', async () => {
  upstream.answer(strictCount(1234));
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  const answer = await fetch(`${gateway.origin}/v1beta/models/${model}:countTokens`, {
    method: 'POST',
    headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
    body: JSON.stringify({ contents }),
  });
  expect(await answer.json()).toEqual({ totalTokens: 1234 });
});

describe('a chat client', () => {
  test('is answered', async () => {
    upstream.answer(strictBedrock((call, response) => send(response, call, [text('Hello there')])));
    const { choices, usage } = await chat.chat.completions.create({
      model,
      messages: [{ role: 'system', content: 'Be brief.' }, ...asked.messages],
    });
    expect(choices).toMatchObject([{ message: { content: 'Hello there' }, finish_reason: 'stop' }]);
    expect(usage).toMatchObject({ prompt_tokens: 23, completion_tokens: 9 });
  });

  test('is streamed, however the frames are cut', async () => {
    const frames = Buffer.concat(framesOf([text('Hello there')]));
    upstream.answer(
      strictBedrock(async (_call, response) => {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
        await sendPieces(response, frames, oddCuts(frames.length));
      }),
    );
    const stream = await chat.chat.completions.create({ model, messages: asked.messages, stream: true });
    let told = '';
    for await (const { choices } of stream) told += choices[0]?.delta.content ?? '';
    expect(told).toBe('Hello there');
  });

  test('calls tools over two turns', async () => {
    upstream.answer(
      strictBedrock((call, response) => {
        const isSecond = (call.body.messages as unknown[]).length > 1;
        if (isSecond) send(response, call, [text('It is wet.')]);
        else send(response, call, [toolUse('toolu_1', 'weather', { place: 'Bonn' })], 'tool_use');
      }),
    );
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: weather.input_schema } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [...asked.messages];
    const first = (await chat.chat.completions.create({ model, messages, tools })).choices[0]?.message;
    messages.push(first ?? expect.unreachable());
    messages.push({ role: 'tool', tool_call_id: first?.tool_calls?.[0]?.id ?? '', content: 'wet' });
    const { choices } = await chat.chat.completions.create({ model, messages, tools });
    expect(choices).toMatchObject([{ message: { content: 'It is wet.' } }]);
  });

  test('is told of a refused key as of any provider’s', async () => {
    upstream.answer((_request, response) => sendException(response, 403, 'AccessDeniedException', 'no access'));
    const failing = chat.chat.completions.create({ model, messages: asked.messages });
    await expect(failing).rejects.toMatchObject({ status: 502, code: 'provider_credential_refused' });
  });
});

test('the Responses API is served', async () => {
  upstream.answer(strictBedrock((call, response) => send(response, call, [text('Hello there')])));
  expect((await chat.responses.create({ model, input: 'Hi' })).output_text).toBe('Hello there');
});
