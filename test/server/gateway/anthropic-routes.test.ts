import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { bodyOf, chunk, completion, ending, strictChat } from '../../support/strict-chat.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: Anthropic;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      settings: { keepAliveCommentMs: 20, prices: { 'llama-3.3': { maxOutput: 50 } } },
      providers: [
        mainProvider(upstream.baseUrl, { models: ['gpt-x'] }),
        {
          id: 'resource',
          dialect: 'azure',
          baseUrl: upstream.origin,
          credentials: [{ id: 'c1' }],
          models: ['my-deployment'],
        },
      ],
      aliases: [{ name: 'claude-sonnet-4-5', targets: [{ provider: 'main', model: 'llama-3.3' }] }],
    },
    secrets: { 'provider/resource/c1': 'azure-secret' },
  });
  client = new Anthropic({ baseURL: gateway.origin, apiKey: null, authToken: testKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const hello = { model: 'gpt-x', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const ask = () =>
  fetch(`${gateway.origin}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': testKey },
    body: JSON.stringify({ ...hello, stream: true }),
  });
const answer = () => upstream.answer(strictChat((_body, response) => json(response, completion({ content: 'Hello' }))));

test('an alias named like a Claude model leads to any model, and the answer carries that name', async () => {
  answer();
  const message = await client.messages.create({ ...hello, model: 'claude-sonnet-4-5' });
  expect(message.model).toBe('claude-sonnet-4-5');
  const seen = upstream.seen.at(-1);
  expect(seen && bodyOf(seen).model).toBe('llama-3.3');
});

test('max_tokens is lowered to the known maximum of the model', async () => {
  answer();
  const { response } = await client.messages.create({ ...hello, model: 'claude-sonnet-4-5' }).withResponse();
  const seen = upstream.seen.at(-1);
  expect(seen && bodyOf(seen).max_tokens).toBe(50);
  expect(response.headers.get('x-sluice-emulated')).toContain('max_tokens');
});

test('a deployment of Azure is asked at its own address', async () => {
  upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  await client.messages.create({ ...hello, model: 'my-deployment' });
  const seen = upstream.seen.at(-1);
  expect(seen?.url).toMatch(/^\/openai\/deployments\/my-deployment\/chat\/completions\?api-version=/);
  expect(seen?.headers['api-key']).toBe('azure-secret');
});

test('what a chat provider does not accept is reported, or refused if the client accepts no losses', async () => {
  answer();
  const asked = { ...hello, top_k: 5 };
  const { response } = await client.messages.create(asked).withResponse();
  expect(response.headers.get('x-sluice-dropped')).toContain('top_k');
  expect((await client.messages.create(hello).withResponse()).response.headers.has('x-sluice-dropped')).toBe(false);
  const count = upstream.seen.length;
  const refused = client.messages.create(asked, { headers: { 'x-sluice-lossy': 'refuse' } });
  const thrown = await refused.then(
    () => expect.unreachable(),
    (error: InstanceType<typeof Anthropic.APIError>) => error,
  );
  expect([thrown.status, thrown.type]).toEqual([400, 'invalid_request_error']);
  expect(upstream.seen.length).toBe(count);
  const record = await gateway.record(thrown.requestID ?? '');
  expect(record).toMatchObject({ outcome: 'error', status: 400, attempts: [{ failure: 'rejected' }] });
});

test('Trap 49: tokens are counted here, where no upstream can (otari#124), rather too many than too few, and the count is marked', async () => {
  const count = upstream.seen.length;
  const { max_tokens: _, ...body } = hello;
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
  const { data, response } = await client.messages
    .countTokens({ ...body, messages: [{ role: 'user', content: text }] })
    .withResponse();
  expect(data.input_tokens).toBeGreaterThan(1000);
  expect(data.input_tokens).toBeLessThan(2000);
  expect(response.headers.get('x-sluice-estimated')).toBe('input_tokens');
  expect(upstream.seen.length).toBe(count);
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  expect(record).toMatchObject({ route: '/v1/messages/count_tokens', outcome: 'ok', usage: null });
});

test('Trap 51 (litellm#38902): tokens are counted for nobody with a bad key, an unknown model or a bad body', async () => {
  const stranger = new Anthropic({ baseURL: gateway.origin, apiKey: 'wrong', maxRetries: 0 });
  await expect(stranger.messages.countTokens(hello)).rejects.toMatchObject({ status: 401 });
  const messages = [{ role: 'robot' as 'user', content: 'Hi' }];
  await expect(client.messages.countTokens({ ...hello, messages })).rejects.toMatchObject({ status: 400 });
});

test('models are listed as Anthropic lists them, and as OpenAI does to whoever does not speak its API', async () => {
  const ids: string[] = [];
  for await (const { id, type } of client.models.list()) if (type === 'model') ids.push(id);
  expect(ids).toEqual(expect.arrayContaining(['gpt-x', 'claude-sonnet-4-5']));
  expect(await client.models.retrieve('gpt-x')).toMatchObject({ type: 'model', id: 'gpt-x', display_name: 'gpt-x' });
  await expect(client.models.retrieve('nobodys/x')).rejects.toMatchObject({ status: 404, type: 'not_found_error' });
  const { data } = await gateway.client.models.list();
  expect(data[0]).toMatchObject({ object: 'model' });
});

test('whoever asks is told that somebody is there', async () => {
  for (const method of ['HEAD', 'GET']) {
    expect((await fetch(`${gateway.origin}/api/hello`, { method })).status).toBe(200);
  }
});

test('a base URL with a second /v1 is understood', async () => {
  answer();
  const doubled = new Anthropic({ baseURL: gateway.baseUrl, apiKey: testKey, maxRetries: 0 });
  expect((await doubled.messages.create(hello)).content).toMatchObject([{ text: 'Hello' }]);
});

test('an error after pings is reported within the stream that the pings have begun', async () => {
  const pinged = Promise.withResolvers<void>();
  upstream.answer(async (_request, response) => {
    await pinged.promise;
    json(response, { error: { message: 'Oops', type: 'invalid_request_error' } }, 400);
  });
  const response = await ask();
  pinged.resolve();
  expect(await response.text()).toMatch(
    /^(?:event: ping\ndata: \{"type":"ping"\}\n\n)+event: error\ndata: \{"type":"error","error":\{"type":"invalid_request_error","message":"Oops"\}\}\n\n$/,
  );
});

test('a silence is filled with pings, before the answer and within it', async () => {
  const pingedBefore = Promise.withResolvers<void>();
  const pingedWithin = Promise.withResolvers<void>();
  upstream.answer(async (_request, response) => {
    await pingedBefore.promise;
    eventStream(response);
    response.write(chunk({ content: 'Hello' }));
    await pingedWithin.promise;
    response.end(ending('stop'));
  });
  const response = await ask();
  const seen: string[] = [];
  let text = '';
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString();
    for (const [, name] of text.matchAll(/^event: (\w+)$/gm)) if (name !== seen.at(-1)) seen.push(name ?? '');
    text = text.slice(text.lastIndexOf('\n\n') + 2);
    if (seen.at(-1) !== 'ping') continue;
    pingedBefore.resolve();
    // Only a ping after the text ends the answer, because several pings may precede it.
    if (seen.includes('content_block_delta')) pingedWithin.resolve();
  }
  expect(seen.filter((name, index) => name !== 'ping' || index < 5)).toEqual([
    'ping',
    'message_start',
    'content_block_start',
    'content_block_delta',
    'ping',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
});
