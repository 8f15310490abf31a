/** Embeddings by models in a cloud through OpenAI's route. */
import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { testKey } from '../../support/gateway.ts';
import { bodyOf } from '../../support/strict-anthropic.ts';
import { sendException } from '../../support/strict-bedrock.ts';
import { json } from '../../support/upstream.ts';
import { base, cloudsInSuite } from './client-routes.ts';

const google = `${base}/publishers/google/models`;
const titan = ['amazon.titan-embed-text-v2:0', 'amazon.titan-embed-text-v1'];
const cohere = ['cohere.embed-english-v3', 'us.cohere.embed-v4:0'];
const gemini = ['text-embedding-005', 'gemini-embedding-001', 'gemini-embedding-2'];
const clouds = cloudsInSuite({
  aws: [...titan, ...cohere, 'amazon.nova-pro-v1:0'],
  vertex: [...gemini, 'claude-opus-4-5'],
});

const float = 'float' as const;
const vectors = [
  [0.25, -1.5],
  [0.5, 3],
];
const told = (list: OpenAI.CreateEmbeddingResponse) => list.data.map(({ embedding }) => embedding);

describe('a model on Bedrock makes embeddings', () => {
  test('one at a time, as Titan', async () => {
    clouds.aws.answer((_request, response) => json(response, { embedding: vectors[0], inputTextTokenCount: 3 }));
    const model = 'amazon.titan-embed-text-v2:0';
    const { data, response } = await clouds.client.embeddings
      .create({ model, input: 'Hi', dimensions: 256, encoding_format: float })
      .withResponse();
    expect(told(data)).toEqual([vectors[0]]);
    expect(data.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    expect(clouds.aws.seen.map(({ url }) => url)).toEqual(['/model/amazon.titan-embed-text-v2%3A0/invoke']);
    expect(clouds.aws.seen.map(bodyOf)).toEqual([{ inputText: 'Hi', dimensions: 256 }]);
    const record = await clouds.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'ok', usage: { inputTokens: 3 }, usageCertainty: 'reported' });
  });

  test.each([
    ['cohere.embed-english-v3', undefined, { embeddings: vectors }],
    ['us.cohere.embed-v4:0', 256, { embeddings: { float: vectors } }],
  ])('several at a time, as %s', async (model, dimensions, answer) => {
    clouds.aws.answer((_request, response) => json(response, answer));
    const asked = { model, input: ['a', 'b'], encoding_format: float, ...(dimensions && { dimensions }) };
    expect(told(await clouds.client.embeddings.create(asked))).toEqual(vectors);
    expect(clouds.aws.seen.map(bodyOf)).toEqual([
      {
        texts: ['a', 'b'],
        input_type: 'search_document',
        embedding_types: ['float'],
        ...(dimensions && { output_dimension: dimensions }),
      },
    ]);
  });

  test.each([['amazon.titan-embed-text-v1', { input: 'a', dimensions: 256 }, "'dimensions' cannot be translated"]])(
    'but %s refuses options that it does not have',
    async (model, asked, said) => {
      const failing = clouds.client.embeddings.create({ model, ...asked });
      await expect(failing).rejects.toMatchObject({ status: 400, message: expect.stringContaining(said) });
      expect(clouds.aws.seen).toEqual([]);
    },
  );

  test('or passes on its error in OpenAI’s format', async () => {
    clouds.aws.answer((_request, response) =>
      sendException(response, 400, 'ValidationException', 'inputText: too long'),
    );
    const failing = clouds.client.embeddings.create({ model: 'amazon.titan-embed-text-v1', input: 'a' });
    const error = { type: 'invalid_request_error', message: 'inputText: too long' };
    await expect(failing).rejects.toMatchObject({ status: 400, error });
  });
});

describe('a model on Vertex AI makes embeddings', () => {
  test('several at a time, by `:predict`', async () => {
    const predictions = vectors.map((values) => ({ embeddings: { values, statistics: { token_count: 2 } } }));
    clouds.vertex.answer((_request, response) => json(response, { predictions }));
    const asked = { model: 'text-embedding-005', input: ['a', 'b'], dimensions: 2, encoding_format: float };
    const answer = await clouds.client.embeddings.create(asked);
    expect(told(answer)).toEqual(vectors);
    expect(answer.usage.prompt_tokens).toBe(4);
    expect(clouds.vertex.seen.map(({ url }) => url)).toEqual([`${google}/text-embedding-005:predict`]);
    expect(clouds.vertex.seen.map(bodyOf)).toEqual([
      { instances: [{ content: 'a' }, { content: 'b' }], parameters: { outputDimensionality: 2 } },
    ]);
  });

  test('for a client of Gemini’s API, too, with what they are for', async () => {
    const predictions = [{ embeddings: { values: vectors[0] } }];
    clouds.vertex.answer((_request, response) => json(response, { predictions }));
    const answer = await fetch(`${clouds.gateway.origin}/v1beta/models/gemini-embedding-001:embedContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
      body: JSON.stringify({ content: { parts: [{ text: 'a' }] }, taskType: 'RETRIEVAL_QUERY' }),
    });
    expect(await answer.json()).toEqual({ embedding: { values: vectors[0] } });
    expect(clouds.vertex.seen.map(bodyOf)).toEqual([
      { instances: [{ content: 'a', task_type: 'RETRIEVAL_QUERY' }], parameters: {} },
    ]);
  });

  test('one at a time, by `:embedContent`', async () => {
    const answer = { embedding: { values: vectors[0] }, usageMetadata: { promptTokenCount: 3 } };
    clouds.vertex.answer((_request, response) => json(response, answer));
    const asked = { model: 'gemini-embedding-2', input: 'a', dimensions: 2, encoding_format: float };
    expect(told(await clouds.client.embeddings.create(asked))).toEqual([vectors[0]]);
    expect(clouds.vertex.seen.map(({ url }) => url)).toEqual([`${google}/gemini-embedding-2:embedContent`]);
    expect(clouds.vertex.seen.map(bodyOf)).toEqual([
      { content: { parts: [{ text: 'a' }] }, embedContentConfig: { outputDimensionality: 2 } },
    ]);
  });

  test('but an answer without a vector for each text is an error', async () => {
    clouds.vertex.answer((_request, response) => json(response, { predictions: [{ embeddings: { values: [1] } }] }));
    const failing = clouds.client.embeddings.create({ model: 'text-embedding-005', input: ['a', 'b'] });
    await expect(failing).rejects.toMatchObject({ status: 502 });
  });
});

test.each(['amazon.nova-pro-v1:0', 'claude-opus-4-5'])('%s makes no embeddings, and is not asked', async (model) => {
  await expect(clouds.client.embeddings.create({ model, input: 'a' })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('cannot serve /v1/embeddings'),
  });
  expect([...clouds.aws.seen, ...clouds.vertex.seen]).toEqual([]);
});
