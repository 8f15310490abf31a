import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { ClientRoutes } from './client-routes.ts';
import { all, chatUsage, input, model, responseObject, responsesUsage } from './streams.ts';

const routes = new ClientRoutes().use();

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
    routes.answers(completion);
    const { data, request_id, response } = await routes.client.chat.completions
      .create({ model, messages })
      .withResponse();
    expect(data).toMatchObject(completion);
    expect(request_id).toBe('req_of_upstream');
    routes.expectArrived('POST', '/v1/chat/completions');
    const record = await routes.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
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
      bytesIn: routes.sent.length,
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
    routes.streams('chat with usage');
    const chunks = await all(
      await routes.client.chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
      'Hello \u{1F30D} "usage":null data: [DONE]',
    );
    expect(chunks.at(-1)?.usage).toEqual(chatUsage);
    routes.expectArrived('POST', '/v1/chat/completions');
  });

  test('streamed with tools, through the helper that puts a stream together', async () => {
    routes.streams('chat with tools, reasoning and the first chunk of Azure');
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];
    const runner = routes.client.chat.completions.stream({ model, messages, tools });
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
    routes.answers({ id: 'cmpl-1', object: 'text_completion', choices: [{ text: ' upon', index: 0 }] });
    const completion = await routes.client.completions.create({ model, prompt: 'Once' });
    expect(completion.choices[0]?.text).toBe(' upon');
    routes.expectArrived('POST', '/v1/completions');
  });

  test('streamed', async () => {
    routes.streams('completions');
    const stream = { stream: true, stream_options: { include_usage: true } } as const;
    const chunks = await all(await routes.client.completions.create({ model, prompt: 'Once', ...stream }));
    expect(chunks.map((chunk) => chunk.choices[0]?.text)).toEqual([' upon', '']);
    routes.expectArrived('POST', '/v1/completions');
  });
});

describe('responses', () => {
  const create = async (id: string) => {
    routes.answers(responseObject('completed', { id, usage: responsesUsage }));
    return routes.client.responses.create({ model, input });
  };

  test('plain', async () => {
    const response = await create('resp_plain');
    expect(response).toMatchObject({ id: 'resp_plain', usage: responsesUsage });
    routes.expectArrived('POST', '/v1/responses');
  });

  test('streamed, in full order', async () => {
    routes.streams('responses in full order');
    const events = await all(await routes.client.responses.create({ model, input, stream: true }));
    expect(events.map((event) => event.sequence_number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { usage: responsesUsage } });
    routes.expectArrived('POST', '/v1/responses');
  });

  test('retrieved, with a query in brackets', async () => {
    const { id } = await create('resp_get');
    routes.answers(responseObject('completed', { id }));
    await routes.client.responses.retrieve(id, { include: ['message.output_text.logprobs'] });
    routes.expectArrived('GET', '/v1/responses/resp_get?include%5B%5D=message.output_text.logprobs');
  });

  test('retrieved as a stream', async () => {
    const { id } = await create('resp_again');
    routes.streams('responses in full order');
    const events = await all(await routes.client.responses.retrieve(id, { stream: true, starting_after: 3 }));
    expect(events).toHaveLength(10);
    routes.expectArrived('GET', '/v1/responses/resp_again?stream=true&starting_after=3');
  });

  test('cancelled', async () => {
    const { id } = await create('resp_cancel');
    routes.answers(responseObject('cancelled', { id }));
    expect((await routes.client.responses.cancel(id)).status).toBe('cancelled');
    routes.expectArrived('POST', '/v1/responses/resp_cancel/cancel');
  });

  test('input items', async () => {
    const { id } = await create('resp_items');
    routes.answers({ object: 'list', data: [{ id: 'msg_1' }], has_more: false });
    const page = await routes.client.responses.inputItems.list(id, { limit: 5, order: 'asc' });
    expect(page.data).toHaveLength(1);
    routes.expectArrived('GET', '/v1/responses/resp_items/input_items?limit=5&order=asc');
  });

  test('deleted, and gone for Sluice too', async () => {
    const { id } = await create('resp_delete');
    routes.answers({ id, object: 'response', deleted: true });
    await routes.client.responses.delete(id);
    routes.expectArrived('DELETE', '/v1/responses/resp_delete');
    await expect(routes.client.responses.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('tokens counted and conversations compacted', async () => {
    routes.answers({ object: 'response.input_tokens', input_tokens: 12 });
    expect(await routes.client.responses.inputTokens.count({ model, input })).toMatchObject({ input_tokens: 12 });
    routes.expectArrived('POST', '/v1/responses/input_tokens');
    routes.answers({ id: 'resp_c', object: 'response.compaction', created_at: 1, output: [], usage: responsesUsage });
    expect((await routes.client.responses.compact({ model, input })).id).toBe('resp_c');
    routes.expectArrived('POST', '/v1/responses/compact');
  });
});

test('embeddings, as base64 of floats since the client asked so', async () => {
  const floats = Buffer.from(new Float32Array([0.5, -0.25]).buffer).toString('base64');
  routes.answers({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: floats }], model, usage: {} });
  const { data } = await routes.client.embeddings.create({ model, input });
  expect(data[0]?.embedding).toEqual([0.5, -0.25]);
  expect(JSON.parse(routes.sent.toString()).encoding_format).toBe('base64');
  routes.expectArrived('POST', '/v1/embeddings');
});

test('moderations', async () => {
  routes.answers({ id: 'modr-1', model, results: [{ flagged: false }] });
  expect((await routes.client.moderations.create({ input })).results).toHaveLength(1);
  routes.expectArrived('POST', '/v1/moderations');
});

describe('models', () => {
  test('listed and retrieved, without the upstream', async () => {
    const before = routes.upstream.seen.length;
    expect((await routes.client.models.list()).data.map((one) => one.id)).toEqual(['gpt-x']);
    expect(await routes.client.models.retrieve('gpt-x')).toMatchObject({
      id: 'gpt-x',
      object: 'model',
      owned_by: 'main',
    });
    expect(routes.upstream.seen).toHaveLength(before);
  });

  test.each(['GET', 'HEAD'])('asked with %s, the bytes that were sent count', async (method) => {
    const response = await routes.gateway.fetch('/models', { method });
    const { length } = await response.text();
    expect(length > 0).toBe(method === 'GET');
    const record = await routes.gateway.record(response.headers.get('x-request-id') ?? '');
    expect(record).toMatchObject({ method, outcome: 'ok', status: 200, bytesOut: length });
  });

  test('an id may hold slashes, colons and spaces, encoded or not', async () => {
    expect((await routes.client.models.retrieve('meta/llama 3:8b')).id).toBe('meta/llama 3:8b');
    const plain = await routes.gateway.fetch('/models/meta/llama-3:8b?x=1');
    expect(await plain.json()).toMatchObject({ id: 'meta/llama-3:8b' });
    expect(await routes.gateway.record(plain.headers.get('x-request-id') ?? '')).toMatchObject({
      route: '/v1/models/{model}',
      method: 'GET',
      outcome: 'ok',
      status: 200,
    });
  });
});

test('a base URL with /v1 twice is meant once', async () => {
  routes.answers({ ok: true });
  const twice = routes.client.withOptions({ baseURL: `${routes.gateway.baseUrl}/v1` });
  await twice.embeddings.create({ model, input, encoding_format: 'float' });
  routes.expectArrived('POST', '/v1/embeddings');
  expect((await twice.models.list()).data).toHaveLength(1);
});
