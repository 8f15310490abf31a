import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, oddCuts, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';
import { all, input, model } from './sent-files.ts';
import { chatUsage, responseObject, responsesUsage, samples } from './streams.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

/** The body as the official client put it on the wire. */
let sent: Buffer;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  client = gateway.client.withOptions({
    fetch: async (url, init) => {
      const request = new Request(url, init);
      sent = Buffer.from(await request.arrayBuffer());
      const { method, headers, signal } = request;
      return fetch(url, { method, headers, signal, ...(sent.length > 0 && { body: new Uint8Array(sent) }) });
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

beforeEach(() => {
  sent = Buffer.alloc(0);
});

/** What the next request is answered, in odd pieces. */
function answers(value: unknown, contentType = 'application/json'): void {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
  upstream.answer((_request, response) => {
    response.writeHead(200, { 'content-type': contentType, 'x-request-id': 'req_of_upstream' });
    return sendPieces(response, bytes, oddCuts(bytes.length));
  });
}

function streams(name: string): void {
  const sample = samples.find((one) => one.name === name);
  if (!sample) throw new Error(`There is no sample "${name}".`);
  upstream.answer((_request, response) => {
    eventStream(response);
    return sendPieces(response, sample.bytes, oddCuts(sample.bytes.length));
  });
}

/** The request arrived as the client sent it, but for the credential. */
function expectArrived(method: string, url: string): void {
  const seen = upstream.seen.at(-1);
  expect([seen?.method, seen?.url]).toEqual([method, url]);
  expect(seen?.body.equals(sent)).toBe(true);
  expect(seen?.headers).toMatchObject({
    authorization: 'Bearer upstream-secret',
    host: new URL(upstream.origin).host,
    'accept-encoding': 'identity',
    'x-sluice-hops': '1',
    'x-stainless-lang': 'js',
  });
  expect(seen?.headers['user-agent']).toMatch(/^OpenAI\/JS /);
  expect(JSON.stringify(seen?.headers)).not.toContain(testKey);
}

const messages = [{ role: 'user' as const, content: 'Grüße \u{1F30D}' }];

describe('chat completions', () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello \u{1F30D}' }, finish_reason: 'stop' }],
    usage: chatUsage,
  };

  test('plain', async () => {
    answers(completion);
    const { data, request_id, response } = await client.chat.completions.create({ model, messages }).withResponse();
    expect(data).toMatchObject(completion);
    expect(request_id).toBe('req_of_upstream');
    expectArrived('POST', '/v1/chat/completions');
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({
      route: '/v1/chat/completions',
      method: 'POST',
      capability: 'chat',
      keyId: 'k1',
      groupId: 'default',
      modelAsked: model,
      modelServed: model,
      provider: 'main',
      credential: 'c1',
      outcome: 'ok',
      status: 200,
      errorCode: null,
      stream: false,
      bytesIn: sent.length,
      bytesOut: Buffer.byteLength(JSON.stringify(completion)),
      usageCertainty: 'reported',
      usage: { inputTokens: 19, outputTokens: 10, cachedInputTokens: 3, reasoningTokens: 4 },
      attempts: [{ provider: 'main', credential: 'c1', model, status: 200, upstreamRequestId: 'req_of_upstream' }],
      clientRetries: 0,
      dropped: [],
      emulated: [],
      captured: null,
      fault: null,
      cassette: null,
      shadowOf: null,
      sameAnswer: null,
    });
    expect(record.client).toMatch(/^OpenAI\/JS /);
    expect(record.totalMs).toBeGreaterThanOrEqual(record.firstByteMs ?? Number.NaN);
  });

  test('streamed', async () => {
    streams('chat with usage');
    const chunks = await all(
      await client.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage: true } }),
    );
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
      'Hello \u{1F30D} "usage":null data: [DONE]',
    );
    expect(chunks.at(-1)?.usage).toEqual(chatUsage);
    expectArrived('POST', '/v1/chat/completions');
  });

  test('streamed with tools, through the helper that puts a stream together', async () => {
    streams('chat with tools, reasoning and the first chunk of Azure');
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];
    const runner = client.chat.completions.stream({ model, messages, tools });
    const [choice] = (await runner.finalChatCompletion()).choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.tool_calls?.map((call) => 'function' in call && call.function)).toMatchObject([
      { name: 'weather', arguments: '{"city":"Zürich"}' },
      { name: 'time', arguments: '' },
    ]);
  });
});

describe('completions', () => {
  test('plain', async () => {
    answers({ id: 'cmpl-1', object: 'text_completion', choices: [{ text: ' upon', index: 0 }] });
    const completion = await client.completions.create({ model, prompt: 'Once' });
    expect(completion.choices[0]?.text).toBe(' upon');
    expectArrived('POST', '/v1/completions');
  });

  test('streamed', async () => {
    streams('completions');
    const stream = { stream: true, stream_options: { include_usage: true } } as const;
    const chunks = await all(await client.completions.create({ model, prompt: 'Once', ...stream }));
    expect(chunks.map((chunk) => chunk.choices[0]?.text)).toEqual([' upon', '']);
    expectArrived('POST', '/v1/completions');
  });
});

describe('responses', () => {
  const create = async (id: string) => {
    answers(responseObject('completed', { id, usage: responsesUsage }));
    return client.responses.create({ model, input });
  };

  test('plain', async () => {
    const response = await create('resp_plain');
    expect(response).toMatchObject({ id: 'resp_plain', usage: responsesUsage });
    expectArrived('POST', '/v1/responses');
  });

  test('streamed, in full order', async () => {
    streams('responses in full order');
    const events = await all(await client.responses.create({ model, input, stream: true }));
    expect(events.map((event) => event.sequence_number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { usage: responsesUsage } });
    expectArrived('POST', '/v1/responses');
  });

  test('retrieved, with a query in brackets', async () => {
    const { id } = await create('resp_get');
    answers(responseObject('completed', { id }));
    await client.responses.retrieve(id, { include: ['message.output_text.logprobs'] });
    expectArrived('GET', '/v1/responses/resp_get?include%5B%5D=message.output_text.logprobs');
  });

  test('retrieved as a stream', async () => {
    const { id } = await create('resp_again');
    streams('responses in full order');
    const events = await all(await client.responses.retrieve(id, { stream: true, starting_after: 3 }));
    expect(events).toHaveLength(10);
    expectArrived('GET', '/v1/responses/resp_again?stream=true&starting_after=3');
  });

  test('cancelled', async () => {
    const { id } = await create('resp_cancel');
    answers(responseObject('cancelled', { id }));
    expect((await client.responses.cancel(id)).status).toBe('cancelled');
    expectArrived('POST', '/v1/responses/resp_cancel/cancel');
  });

  test('input items', async () => {
    const { id } = await create('resp_items');
    answers({ object: 'list', data: [{ id: 'msg_1' }], has_more: false });
    const page = await client.responses.inputItems.list(id, { limit: 5, order: 'asc' });
    expect(page.data).toHaveLength(1);
    expectArrived('GET', '/v1/responses/resp_items/input_items?limit=5&order=asc');
  });

  test('deleted, and gone for Sluice too', async () => {
    const { id } = await create('resp_delete');
    answers({ id, object: 'response', deleted: true });
    await client.responses.delete(id);
    expectArrived('DELETE', '/v1/responses/resp_delete');
    await expect(client.responses.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('tokens counted and conversations compacted', async () => {
    answers({ object: 'response.input_tokens', input_tokens: 12 });
    expect(await client.responses.inputTokens.count({ model, input })).toMatchObject({ input_tokens: 12 });
    expectArrived('POST', '/v1/responses/input_tokens');
    answers({ id: 'resp_c', object: 'response.compaction', created_at: 1, output: [], usage: responsesUsage });
    expect((await client.responses.compact({ model, input })).id).toBe('resp_c');
    expectArrived('POST', '/v1/responses/compact');
  });
});

test('embeddings, as base64 of floats since the client asked so', async () => {
  const floats = Buffer.from(new Float32Array([0.5, -0.25]).buffer).toString('base64');
  answers({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: floats }], model, usage: {} });
  const { data } = await client.embeddings.create({ model, input });
  expect(data[0]?.embedding).toEqual([0.5, -0.25]);
  expect(JSON.parse(sent.toString()).encoding_format).toBe('base64');
  expectArrived('POST', '/v1/embeddings');
});

test('moderations', async () => {
  answers({ id: 'modr-1', model, results: [{ flagged: false }] });
  expect((await client.moderations.create({ input })).results).toHaveLength(1);
  expectArrived('POST', '/v1/moderations');
});

describe('models', () => {
  test('listed and retrieved, without the upstream', async () => {
    const before = upstream.seen.length;
    expect((await client.models.list()).data.map((one) => one.id)).toEqual(['gpt-x']);
    expect(await client.models.retrieve('gpt-x')).toMatchObject({ id: 'gpt-x', object: 'model', owned_by: 'main' });
    expect(upstream.seen).toHaveLength(before);
  });

  test('an id may hold slashes, colons and spaces, encoded or not', async () => {
    expect((await client.models.retrieve('meta/llama 3:8b')).id).toBe('meta/llama 3:8b');
    const plain = await gateway.fetch('/models/meta/llama-3:8b?x=1');
    expect(await plain.json()).toMatchObject({ id: 'meta/llama-3:8b' });
    expect(await gateway.record(plain.headers.get('x-request-id') ?? '')).toMatchObject({
      route: '/v1/models/{model}',
      method: 'GET',
      outcome: 'ok',
      status: 200,
    });
  });
});

test('a base URL with /v1 twice is meant once', async () => {
  answers({ ok: true });
  const twice = client.withOptions({ baseURL: `${gateway.baseUrl}/v1` });
  await twice.embeddings.create({ model, input, encoding_format: 'float' });
  expectArrived('POST', '/v1/embeddings');
  expect((await twice.models.list()).data).toHaveLength(1);
});
