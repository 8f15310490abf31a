/** Further parts of chats with a provider of Anthropic's Messages: formats, media, errors, cuts, silence. */
import type OpenAI from 'openai';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import {
  anthropicKey,
  begun,
  blockEvents,
  bodyOf,
  event,
  message,
  send,
  sendError,
  streamOf,
  strictAnthropic,
  text,
  thought,
  toolUse,
} from '../../support/strict-anthropic.ts';
import {
  eventStream,
  json,
  oddCuts,
  type ScriptedUpstream,
  sendPieces,
  startUpstream,
} from '../../support/upstream.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
  await start();
});

async function start(config: Partial<ConfigInput> = {}): Promise<void> {
  gateway = await stopLater(
    startGateway({
      config: {
        providers: [mainProvider(upstream.origin, { dialect: 'anthropic' })],
        groups: [{ id: 'default', policy: { retries: 0 } }],
        ...config,
      },
      secrets: { 'provider/main/c1': anthropicKey },
    }),
  );
  ({ client } = gateway);
}

const model = 'claude-opus-5-5';
const hello = { model, messages: [{ role: 'user' as const, content: 'Hi' }] };
const lastBody = () => {
  const last = upstream.seen.at(-1);
  return last ? bodyOf(last) : {};
};
const says = (...blocks: Parameters<typeof send>[2]) =>
  upstream.answer(strictAnthropic((body, response) => send(response, body, blocks)));
const ask = (more: object = {}) => client.chat.completions.create({ ...hello, ...more }).withResponse();
const raw = (more: object = {}) =>
  gateway.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...hello, ...more }),
  });

describe('a request', () => {
  test('gets an answer in the response format that it requests', async () => {
    says(text('{"a":1}'));
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
      additionalProperties: false,
    };
    const completion = await client.chat.completions.parse({
      ...hello,
      response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ a: 1 });
    expect(lastBody()).toMatchObject({ output_config: { format: { type: 'json_schema', schema } } });
  });

  test('may contain images and documents', async () => {
    says(text('A cat'));
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
      { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
    ];
    await ask({ messages: [{ role: 'user', content }] });
    expect(lastBody().messages).toMatchObject([
      {
        content: [
          { type: 'text' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf' }, title: 'a.pdf' },
        ],
      },
    ]);
  });

  test('may have an answer as long as the model allows, unless it sets a maximum', async () => {
    says(text('Hello'));
    await ask();
    expect(lastBody().max_tokens).toBe(128_000);
    await ask({ max_completion_tokens: 50 });
    expect(lastBody().max_tokens).toBe(50);
    await ask({ model: 'claude-haiku-4-5' });
    expect(lastBody().max_tokens).toBe(64_000);
  });

  test('turns on the prompt caching that OpenAI’s clients expect to be automatic', async () => {
    says(text('Hello'));
    await ask();
    expect(lastBody().cache_control).toEqual({ type: 'ephemeral' });
  });

  test('reports what was left out, or is refused if nothing may be', async () => {
    says(text('Hello'));
    const { response } = await ask({ temperature: 0.2, seed: 1, logit_bias: { 1: 1 } });
    expect(response.headers.get('x-sluice-dropped')?.split(', ').sort()).toEqual([
      'logit_bias;why=no-equal',
      'seed;why=no-equal',
      'temperature;why=model-takes-none',
    ]);
    const refusing = client.chat.completions.create({ ...hello, seed: 1 }, { headers: { 'x-sluice-lossy': 'refuse' } });
    await expect(refusing).rejects.toMatchObject({ status: 400, param: 'seed' });
    await expect(ask({ n: 2 })).rejects.toMatchObject({ status: 400, param: 'n' });
    expect(upstream.seen.length).toBe(1);
  });

  test('that requires a tool call says so in the prompt if the model cannot be forced', async () => {
    upstream.answer(
      strictAnthropic((body, response) => send(response, body, [toolUse('toolu_1', 'look', {})], 'tool_use')),
    );
    const tools = [{ type: 'function' as const, function: { name: 'look' } }];
    const { data, response } = await ask({ tools, tool_choice: 'required' });
    expect(data.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: 'toolu_1' }] },
    });
    expect(lastBody().tool_choice).toEqual({ type: 'auto' });
    expect(response.headers.get('x-sluice-emulated')).toBe('tool_choice;why=in-prompt');
  });

  test('with call ids that Anthropic would refuse is sent with ids that Anthropic accepts', async () => {
    says(text('Hello'));
    const id = 'functions.bash:0';
    const call = { id, type: 'function', function: { name: 'bash', arguments: '{}' } };
    const turn = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: id, content: 'x' },
    ];
    await ask({ messages: [...hello.messages, ...turn, ...turn] });
    expect(upstream.seen.length).toBe(1);
  });
});

describe('a stream', () => {
  const blocks = [thought('Grüße…'), text('Straße 漢字'), toolUse('toolu_1', 'look', { place: 'Köln' })];

  async function told(response: Response): Promise<string[]> {
    const whole = await response.text();
    return whole.split('\n\n').filter((part) => part.startsWith('data: '));
  }

  test('is the same wherever the provider’s stream is split into chunks', async () => {
    const bytes = Buffer.from(streamOf(blocks, 'tool_use'));
    const heard: string[][] = [];
    for (const cuts of [[], oddCuts(bytes.length), oddCuts(bytes.length, 3)]) {
      upstream.answer((_request, response) => {
        eventStream(response);
        return sendPieces(response, bytes, cuts);
      });
      const events = await told(await raw({ stream: true, stream_options: { include_usage: true } }));
      heard.push(events.map((line) => line.replace(/"created":\d+/, '')));
    }
    expect(heard[1]).toEqual(heard[0]);
    expect(heard[2]).toEqual(heard[0]);
    expect(heard[0]?.at(-1)).toBe('data: [DONE]');
    expect(heard[0]?.join('')).toContain('"finish_reason":"tool_calls"');
    expect(heard[0]?.join('')).toContain('"reasoning_content":"Gr');
  });

  test('that breaks off ends in an error, and not as if it were complete', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(begun + blockEvents(0, text('Hello')), () => response.destroy());
    });
    const response = await raw({ stream: true });
    const events = await told(response);
    expect(events.join('')).toContain('"content":"Hel"');
    expect(events.at(-1)).toMatch(/^data: \{"error":\{"message":/);
    expect(events).not.toContain('data: [DONE]');
    expect(await gateway.record(response.headers.get('x-sluice-request-id') ?? '')).toMatchObject({
      outcome: 'stream-broken',
    });
  });

  test('whose provider becomes overloaded midway ends with OpenAI’s error for that', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
      response.end(begun + blockEvents(0, text('Hello')) + error);
    });
    const stream = await client.chat.completions.create({ ...hello, stream: true });
    const pieces: string[] = [];
    const read = async () => {
      for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? '');
    };
    await expect(read()).rejects.toMatchObject({
      code: 'server_overloaded',
      message: expect.stringContaining('Overloaded'),
    });
    expect(pieces.join('')).toBe('Hello');
  });

  test('is kept alive by comments while the provider is silent', async () => {
    await gateway.stop();
    await start({ settings: { keepAliveCommentMs: 20 } });
    let goOn = () => {};
    upstream.answer(async (_request, response) => {
      eventStream(response);
      response.write(begun + event({ type: 'ping' }));
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      response.end(streamOf([text('Hello')]).slice(begun.length));
    });
    const response = await raw({ stream: true });
    let whole = '';
    for await (const piece of response.body ?? []) {
      whole += Buffer.from(piece).toString();
      if (whole.includes(': ')) goOn();
    }
    expect(whole).toMatch(/^: /);
    expect(whole).toContain('"content":"Hel"');
    expect(whole.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('is made from a non-streamed answer even after a comment has already been sent', async () => {
    await gateway.stop();
    await start({ settings: { keepAliveCommentMs: 20 } });
    let goOn = () => {};
    upstream.answer(async (_request, response) => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      json(response, message([text('Hello')]));
    });
    const response = await raw({ stream: true });
    let whole = '';
    for await (const piece of response.body ?? []) {
      whole += Buffer.from(piece).toString();
      if (whole.includes(': ')) goOn();
    }
    expect(whole).toContain('"content":"Hello"');
    expect(whole.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('stops at the provider when its client leaves', async () => {
    const stopped = new Promise<void>((resolve) => {
      upstream.answer((_request, response) => {
        eventStream(response);
        response.write(begun + blockEvents(0, text('Once')));
        response.once('close', resolve);
      });
    });
    const { data: stream, response } = await client.chat.completions.create({ ...hello, stream: true }).withResponse();
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    stream.controller.abort();
    await stopped;
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'client-gone' });
  });

  test('is made from an answer that was not streamed', async () => {
    upstream.answer((_request, response) => json(response, message([text('Hello')])));
    const stream = client.chat.completions.stream(hello);
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('Hello');
  });
});

describe('an error of the provider', () => {
  test.each([
    [400, 'invalid_request_error', 'messages: odd', 400, 'invalid_request_error', null],
    [404, 'not_found_error', 'model: claude-opus-9', 404, 'invalid_request_error', 'model_not_found'],
    [429, 'rate_limit_error', 'Slow down', 429, 'requests', 'rate_limit_exceeded'],
    [529, 'overloaded_error', 'Overloaded', 503, 'server_error', 'server_overloaded'],
    [500, 'api_error', 'Internal server error', 500, 'server_error', null],
  ])('of status %i (%s: %s) is one of OpenAI’s of status %i', async (status, type, said, asked, wanted, code) => {
    upstream.answer((_request, response) => sendError(response, status, type, said));
    for (const stream of [false, true]) {
      await expect(ask({ stream })).rejects.toMatchObject({
        status: asked,
        error: { message: expect.stringContaining(said), type: wanted, code },
      });
    }
  });

  test('about a prompt that is too long states both token numbers in OpenAI’s wording', async () => {
    const said = 'prompt is too long: 9001 tokens > 8192 maximum';
    upstream.answer((_request, response) => sendError(response, 400, 'invalid_request_error', said));
    await expect(ask()).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      message: expect.stringMatching(/maximum context length is 8192 tokens.*resulted in 9001 tokens/),
    });
  });

  test.each([
    [401, 'authentication_error', 'invalid x-api-key', 'provider_credential_refused'],
    [
      400,
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API.',
      'provider_quota_exhausted',
    ],
  ])('about its account (%i %s) is not reported as the client’s', async (status, type, said, code) => {
    upstream.answer((_request, response) => sendError(response, status, type, said));
    await expect(ask()).rejects.toMatchObject({ status: 502, error: { code } });
  });
});

test('a client of the Responses API is answered too, whole and streamed, and brings reasoning back itself', async () => {
  const turns = [[thought('I look.'), toolUse('toolu_1', 'look', {})], [text('Yes.')]];
  upstream.answer(
    strictAnthropic((body, response) => {
      const isFirst = (body.messages as unknown[]).length === 1;
      send(response, body, turns[isFirst ? 0 : 1] ?? [], isFirst ? 'tool_use' : 'end_turn');
    }),
  );
  const asked = {
    model,
    store: false,
    include: ['reasoning.encrypted_content' as const],
    tools: [{ type: 'function' as const, name: 'look', parameters: { type: 'object', properties: {} }, strict: false }],
  };
  const question = { role: 'user' as const, content: 'Is it wet?' };
  const first = await client.responses.create({ ...asked, input: [question] });
  const result = { type: 'function_call_output' as const, call_id: 'toolu_1', output: 'rain' };
  const input = [question, ...first.output, result] as OpenAI.Responses.ResponseInput;
  expect((await client.responses.create({ ...asked, input })).output_text).toBe('Yes.');
  expect((lastBody().messages as { content: unknown }[])[1]?.content).toEqual(turns[0]);
  const streamed = await client.responses.stream({ ...asked, input }).finalResponse();
  expect(streamed.output_text).toBe('Yes.');
});
