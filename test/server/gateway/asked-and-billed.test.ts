/** What a request asks for is what is counted, however long the answer, and in front of every upstream. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion, sendStream, streamOf, strictChat } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const upstreams: ScriptedUpstream[] = [];
let gateway: TestGateway;

/** A picture of real size, as base64. */
const bytesBase64Encoded = 'A'.repeat(300_000);
const imagen = 'imagen-4.0-generate-001';

beforeAll(async () => {
  const google = await startUpstream(({ body }, response) => {
    const { sampleCount = 4 } = (JSON.parse(body.toString()) as { parameters: { sampleCount?: number } }).parameters;
    json(response, { predictions: Array.from({ length: sampleCount }, () => ({ bytesBase64Encoded })) });
  });
  const chat = await startUpstream(
    strictChat((body, response) =>
      body.stream
        ? sendStream(response, streamOf([{ content: 'Hello' }]))
        : json(response, completion({ content: 'Hi' })),
    ),
  );
  upstreams.push(google, chat);
  gateway = await startGateway({
    secrets: { 'provider/google/c1': 'k', 'provider/chat/c1': 'k' },
    config: {
      providers: [
        mainProvider(`${google.origin}/v1beta`, { id: 'google', dialect: 'gemini', models: [imagen] }),
        mainProvider(chat.baseUrl, { id: 'chat', models: ['gpt-x'], serves: ['chat'] }),
      ],
      settings: { prices: { [imagen]: { image: 0.04 } } },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});

async function post(path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-api-key': testKey, 'anthropic-version': '2023-06-01' };
  return await fetch(gateway.origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

test.each([1, 2])('%i pictures of Imagen are billed as so many, though their answer is long', async (sampleCount) => {
  const body = { instances: [{ prompt: 'A lighthouse' }], parameters: { sampleCount } };
  const response = await post(`/v1beta/models/${imagen}:predict`, body);
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  expect(record.usage).toEqual({ images: sampleCount });
  expect(record.costUsd).toBeCloseTo(0.04 * sampleCount, 9);
});

const messages = [{ role: 'user', content: 'Hello?' }];

test.each([true, 'true', 1, 'yes'])('"stream": %j makes a stream in translation', async (stream) => {
  const response = await post('/v1/messages', { model: 'gpt-x', max_tokens: 9, messages, stream });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(await response.text()).toContain('event: message_stop');
});
