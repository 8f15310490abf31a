import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { estimateTokens } from '../../../server/apis/core/usage/prompt-estimate.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { chatUsage, chatWithUsage, chunk } from './streams.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl)],
      groups: [{ id: 'default', deny: ['denied'] }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
      settings: {
        prices: {
          'gpt-x': { input: 1, cachedInput: 0.5, output: 2 },
          'per-request': { request: 0.125 },
        },
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

async function recordOf(path: string, body: string, headers: Record<string, string> = {}) {
  const response = await gateway.fetch(path, { method: 'POST', body, headers });
  await response.arrayBuffer();
  return gateway.record(response.headers.get('x-request-id') ?? '');
}

test('a plain reply and a stream cost what their usage says', async () => {
  const cost = (16 * 1 + 3 * 0.5 + 10 * 2) / 1_000_000;
  upstream.answer((_request, response) => json(response, { usage: chatUsage }));
  const plain = await recordOf('/chat/completions', '{"model":"gpt-x"}');
  expect(plain).toMatchObject({ usageCertainty: 'reported', usage: { inputTokens: 19, cachedInputTokens: 3 } });
  expect(plain.costUsd).toBeCloseTo(cost, 12);
  upstream.answer((_request, response) => {
    eventStream(response);
    response.end(chatWithUsage);
  });
  const stream = await recordOf('/chat/completions', '{"model":"gpt-x","stream":true}');
  expect(stream).toMatchObject({ usageCertainty: 'reported', stream: true });
  expect(stream.costUsd).toBeCloseTo(cost, 12);
});

test('a compressed reply, short or long, costs what it says', async () => {
  for (const length of [10, 100_000]) {
    const content = Array.from({ length }, (_, index) => (index * 7919).toString(36)).join(' ');
    const reply = { id: 'x', choices: [{ index: 0, message: { role: 'assistant', content } }], usage: chatUsage };
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify(reply)));
    });
    const record = await recordOf('/chat/completions', '{"model":"gpt-x"}');
    expect(record).toMatchObject({ usageCertainty: 'reported', usage: { inputTokens: 19, cachedInputTokens: 3 } });
  }
});

test('a refused request records which model it asked for', async () => {
  const refused = await gateway.fetch('/chat/completions', { method: 'POST', body: '{"model":"denied"}' });
  expect(refused.status).toBe(404);
  const id = refused.headers.get('x-request-id') ?? '';
  expect(await gateway.record(id)).toMatchObject({ outcome: 'error', modelAsked: 'denied', modelServed: null });
});

test('a long model name is recorded only up to its maximum length', async () => {
  upstream.answer((_request, response) => json(response, { ok: true }));
  const record = await recordOf('/chat/completions', JSON.stringify({ model: 'x'.repeat(4_000) }));
  const noted = 'x'.repeat(256);
  expect(record).toMatchObject({ modelAsked: noted, modelServed: noted, attempts: [{ model: noted }] });
  expect(upstream.seen.at(-1)?.body.length).toBeGreaterThan(4_000);
});

test('a model without a price costs an unknown amount, not nothing', async () => {
  upstream.answer((_request, response) => json(response, { usage: chatUsage }));
  expect(await recordOf('/chat/completions', '{"model":"of-no-price"}')).toMatchObject({
    usageCertainty: 'reported',
    costUsd: null,
  });
});

test('a price per request applies where the usage is unknown', async () => {
  upstream.answer((_request, response) => json(response, { ok: true }));
  const record = await recordOf('/chat/completions', '{"model":"per-request"}');
  expect(record).toMatchObject({ usage: null, usageCertainty: 'none', costUsd: 0.125 });
});

test('an answer that failed costs nothing, unless it reports usage', async () => {
  upstream.answer((_request, response) => json(response, { error: {} }, 400));
  expect(await recordOf('/chat/completions', '{"model":"per-request"}')).toMatchObject({
    outcome: 'error',
    usage: null,
    usageCertainty: 'none',
    costUsd: 0,
  });
  upstream.answer((_request, response) => json(response, { usage: chatUsage, error: {} }, 400));
  const charged = await recordOf('/chat/completions', '{"model":"gpt-x"}');
  expect(charged).toMatchObject({ outcome: 'error', usageCertainty: 'reported', usage: { inputTokens: 19 } });
  expect(charged.costUsd).toBeCloseTo((16 * 1 + 3 * 0.5 + 10 * 2) / 1_000_000, 12);
});

const question = 'What did the keeper of the lighthouse learn?';
const ask = JSON.stringify({ model: 'gpt-x', stream: true, messages: [{ role: 'user', content: question }] });
const prompt = estimateTokens(question) + 4;

test('a reply without usage is estimated from the text that went in and out', async () => {
  const message = { role: 'assistant', content: 'To tell the weather by the sound of the gulls.' };
  upstream.answer((_request, response) => json(response, { choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  const record = await recordOf('/chat/completions', JSON.stringify({ ...JSON.parse(ask), stream: false }));
  const outputTokens = estimateTokens(message.content);
  expect(record).toMatchObject({ usage: { inputTokens: prompt, outputTokens }, usageCertainty: 'estimated' });
  expect(record.costUsd).toBeCloseTo((prompt * 1 + outputTokens * 2) / 1_000_000, 12);
  upstream.answer((_request, response) => json(response, { object: 'list', data: [{ embedding: [0.5] }] }));
  const embedding = await recordOf('/embeddings', JSON.stringify({ model: 'gpt-x', input: question }));
  expect(embedding).toMatchObject({ usage: { inputTokens: prompt - 4 }, usageCertainty: 'estimated' });
});

test('a stream that breaks before its usage is estimated, one that breaks after it is known in part', async () => {
  const words = chunk({ content: 'To tell the weather' });
  const begun = `data: ${JSON.stringify(words)}\n\n`;
  const counted = `data: ${JSON.stringify({ ...words, usage: chatUsage })}\n\n`;
  for (const [bytes, usageCertainty, usage] of [
    [begun, 'estimated', { inputTokens: prompt, outputTokens: 4 }],
    [counted, 'partial', { inputTokens: 19, outputTokens: 10 }],
  ] as const) {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(bytes, () => setImmediate(() => response.destroy()));
    });
    const record = await recordOf('/chat/completions', ask);
    expect(record.attempts[0]).toMatchObject({ failure: 'stream-broken', usageCertainty, usage });
  }
});

test('counting input tokens costs nothing, and a response in the background costs once it has ended', async () => {
  const body = JSON.stringify({ model: 'gpt-x', input: question });
  upstream.answer((_request, response) => json(response, { object: 'response.input_tokens', input_tokens: 9 }));
  expect(await recordOf('/responses/input_tokens', body)).toMatchObject({ usage: null, costUsd: 0 });
  upstream.answer((_request, response) => json(response, { id: 'resp_1', status: 'queued', output: [], usage: null }));
  expect(await recordOf('/responses', body)).toMatchObject({ usage: null, usageCertainty: 'none', costUsd: 0 });
  const unstored = JSON.stringify({ model: 'gpt-x', input: question, store: false });
  expect(await recordOf('/responses', unstored)).toMatchObject({ usage: null, usageCertainty: 'none', costUsd: null });
});

test('requested images are counted where the reply reports no number', async () => {
  upstream.answer((_request, response) => json(response, { data: [{ url: 'x' }, { url: 'y' }] }));
  const record = await recordOf('/images/generations', '{"model":"gpt-x","n":2}');
  expect(record).toMatchObject({ usage: { images: 2 }, usageCertainty: 'estimated' });
  expect((await recordOf('/images/generations', '{"model":"gpt-x","n":"many"}')).usage).toBeNull();
});

test('an absurd number of images in a request does not distort the sums', async () => {
  upstream.answer((_request, response) => json(response, { data: [{ url: 'x' }] }));
  const body = '{"model":"gpt-x","n":1e300}';
  expect(await recordOf('/images/generations', body)).toMatchObject({ usage: { images: 1 } });
  upstream.answer((_request, response) => json(response, { data: [{ b64_json: 'x'.repeat(30_000) }] }));
  expect(await recordOf('/images/generations', body)).toMatchObject({ usage: { images: 128 } });
});

test('impossible token counts are replaced by estimates, and counts in a client’s metadata are not billed', async () => {
  const message = { role: 'assistant', content: 'To tell the weather by the sound of the gulls.' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const estimated = { inputTokens: prompt, outputTokens: estimateTokens(message.content) };
  const plain = JSON.stringify({ ...JSON.parse(ask), stream: false });
  for (const prompt_tokens of [1e300, -5, 4_000_000_000]) {
    const usage = { prompt_tokens, completion_tokens: prompt_tokens };
    upstream.answer((_request, response) => json(response, { choices, usage }));
    const record = await recordOf('/chat/completions', plain);
    expect(record).toMatchObject({ usage: estimated, usageCertainty: 'estimated' });
  }
  const metadata = { usage: { prompt_tokens: 0, completion_tokens: 0 } };
  upstream.answer((_request, response) => json(response, { choices, usage: chatUsage, metadata }));
  expect(await recordOf('/chat/completions', plain)).toMatchObject({ usage: { inputTokens: 19 } });
});

test('a client’s own count of its retries is noted', async () => {
  upstream.answer((_request, response) => json(response, { ok: true }));
  expect(await recordOf('/embeddings', '{"model":"gpt-x"}', { 'x-stainless-retry-count': '2' })).toMatchObject({
    clientRetries: 2,
  });
});
