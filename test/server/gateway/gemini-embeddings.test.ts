import type { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { geminiAt } from '../../support/sdk-clients.ts';
import { bodyOf } from '../../support/strict-chat.ts';
import { geminiKey, sendGoogleError, strictGemini } from '../../support/strict-gemini.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let openai: ScriptedUpstream;
let google: ScriptedUpstream;
let gateway: TestGateway;
let client: GoogleGenAI;

beforeAll(async () => {
  openai = await startUpstream();
  google = await startUpstream();
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [
        mainProvider(openai.baseUrl, { models: ['text-embedding-3-small'] }),
        mainProvider(google.origin, { id: 'google', dialect: 'gemini', models: ['gemini-embedding-2'] }),
        mainProvider(openai.origin, { id: 'claude', dialect: 'anthropic', models: ['claude-x'] }),
      ],
      aliases: [{ name: 'vectors', targets: [{ provider: 'google', model: 'gemini-embedding-2' }] }],
    },
    secrets: { 'provider/google/c1': geminiKey, 'provider/claude/c1': 'claude-secret' },
  });
  client = geminiAt(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await openai.stop();
  await google.stop();
});
beforeEach(() => {
  openai.seen.length = 0;
  google.seen.length = 0;
});

const vectors = [
  [0.25, -1.5],
  [0.5, 3],
];
const post = (verb: string, body: object) =>
  fetch(`${gateway.origin}/v1beta/models/text-embedding-3-small:${verb}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('Google’s SDK gets the embeddings of a provider that knows OpenAI’s API', () => {
  beforeEach(() => {
    openai.answer((request, response) => {
      const texts = bodyOf(request).input as string[];
      // In a different order, as OpenAI may send them.
      const data = texts.map((_text, index) => ({ object: 'embedding', index, embedding: vectors[index] })).reverse();
      json(response, { object: 'list', data, model: 'm', usage: { prompt_tokens: 7, total_tokens: 7 } });
    });
  });

  test('of several texts', async () => {
    const reply = await client.models.embedContent({
      model: 'text-embedding-3-small',
      contents: ['one', 'two'],
      config: { outputDimensionality: 2, taskType: 'RETRIEVAL_QUERY' },
    });
    expect(reply.embeddings?.map(({ values }) => values)).toEqual(vectors);
    const [seen] = openai.seen;
    expect(seen?.url).toBe('/v1/embeddings');
    expect(seen && bodyOf(seen)).toEqual({ model: 'text-embedding-3-small', input: ['one', 'two'], dimensions: 2 });
    const { headers } = reply.sdkHttpResponse ?? {};
    expect(headers?.['x-sluice-dropped']).toContain('taskType');
    expect(await gateway.record(headers?.['x-sluice-request-id'])).toMatchObject({
      capability: 'embeddings',
      outcome: 'ok',
      usage: { inputTokens: 7 },
      usageCertainty: 'reported',
    });
  });

  test('of a single one', async () => {
    const response = await post('embedContent', { content: { parts: [{ text: 'one' }, { text: 'two' }] } });
    expect(await response.json()).toEqual({
      embedding: { values: vectors[0] },
      usageMetadata: { promptTokenCount: 7 },
    });
    expect(openai.seen[0] && bodyOf(openai.seen[0]).input).toEqual(['one\ntwo']);
  });

  test.each([
    ['no content', {}, /content/],
    [
      'a picture',
      { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] } },
      /content\.parts\[0\]/,
    ],
    [
      'several kinds',
      {
        requests: [
          { content: { parts: [{ text: 'a' }] }, outputDimensionality: 2 },
          { content: { parts: [{ text: 'b' }] } },
        ],
      },
      /requests\[1\]/,
    ],
  ])('but not of %s', async (_name, body, message) => {
    const response = await post('batchEmbedContents', body);
    const { error } = await response.json();
    expect([response.status, error.status]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(error.message).toMatch(message);
    expect(openai.seen).toEqual([]);
  });

  test('and an answer without a vector for each text is damaged', async () => {
    openai.answer((_request, response) => json(response, { data: [], usage: {} }));
    const response = await post('embedContent', { content: { parts: [{ text: 'one' }] } });
    expect([response.status, (await response.json()).error.status]).toEqual([503, 'UNAVAILABLE']);
  });
});

test('an alias of a Gemini model is named so wherever the request names it', async () => {
  google.answer(strictGemini((_call, response) => json(response, { embeddings: [{ values: vectors[0] }] })));
  const { embeddings } = await client.models.embedContent({
    model: 'vectors',
    contents: 'one',
    config: { taskType: 'RETRIEVAL_QUERY' },
  });
  expect(embeddings?.map(({ values }) => values)).toEqual([vectors[0]]);
  const [seen] = google.seen;
  expect(seen?.url).toBe('/v1beta/models/gemini-embedding-2:batchEmbedContents');
  expect(seen && bodyOf(seen)).toEqual({
    requests: [
      { model: 'models/gemini-embedding-2', content: { parts: [{ text: 'one' }] }, taskType: 'RETRIEVAL_QUERY' },
    ],
  });
});

describe('OpenAI’s SDK gets the embeddings of Gemini', () => {
  const model = 'gemini-embedding-2';

  test.each(['float', 'base64', undefined] as const)('as %s', async (format) => {
    google.answer(
      strictGemini((_call, response) => json(response, { embeddings: vectors.map((values) => ({ values })) })),
    );
    const reply = await gateway.client.embeddings.create({
      model,
      input: ['one', 'two'],
      dimensions: 2,
      ...(format && { encoding_format: format }),
    });
    const [first] = reply.data;
    const told =
      format === 'base64' ? Buffer.from(Float32Array.from(vectors[0] ?? []).buffer).toString('base64') : vectors[0];
    expect(first?.embedding).toEqual(told);
    expect(reply.usage.prompt_tokens).toBeGreaterThan(0);
    const [seen] = google.seen;
    expect(seen?.url).toBe('/v1beta/models/gemini-embedding-2:batchEmbedContents');
    const request = (text: string) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      outputDimensionality: 2,
    });
    expect(seen && bodyOf(seen)).toEqual({ requests: [request('one'), request('two')] });
  });

  test('or its error, in OpenAI’s format', async () => {
    google.answer((_request, response) => sendGoogleError(response, 429, 'RESOURCE_EXHAUSTED', 'Slow down'));
    const asked = gateway.client.embeddings.create({ model, input: 'one' });
    await expect(asked).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  });

  test('but not for input given as tokens, which belong to another model’s vocabulary', async () => {
    const asked = gateway.client.embeddings.create({ model, input: [1, 2] });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'invalid_value', param: 'input' });
  });
});

test('a provider that makes no embeddings is not asked for them', async () => {
  const asked = gateway.client.embeddings.create({ model: 'claude-x', input: 'one' });
  await expect(asked).rejects.toMatchObject({ status: 404 });
  expect(openai.seen).toEqual([]);
});

test('a large answer is translated whole', async () => {
  const values = Array.from({ length: 500_000 }, (_, index) => index + 0.123456789012345);
  google.answer(strictGemini((_call, response) => json(response, { embeddings: [{ values }] })));
  const { data } = await gateway.client.embeddings.create({
    model: 'gemini-embedding-2',
    input: 'one',
    encoding_format: 'float',
  });
  expect(data[0]?.embedding.length).toBe(values.length);
});
