/** More texts than a provider takes at a time are asked in parts, one after the other, and answered as one. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { bodyOf } from '../../support/strict-chat.ts';
import { geminiKey, sendGoogleError } from '../../support/strict-gemini.ts';
import { json, type Script, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';
import { base } from './client-routes.ts';

type Body = Record<string, unknown>;

interface Service {
  model: string;
  /** At a time. */
  mostTexts: number;
  textsIn(body: Body): string[];
  answer(vectors: number[][]): object;
  reportsUsage: boolean;
}

const predicted = {
  textsIn: (body: Body) => (body.instances as { content: string }[]).map(({ content }) => content),
  answer: (vectors: number[][]) => ({
    predictions: vectors.map((values) => ({ embeddings: { values, statistics: { token_count: 2 } } })),
  }),
  reportsUsage: true,
};
const services: Record<string, Service> = {
  'the Gemini API': {
    ...{ model: 'text-embedding-004', mostTexts: 100, reportsUsage: true },
    textsIn: (body) => (body.requests as { content: { parts: { text: string }[] } }[]).map(textOf),
    answer: (vectors) => ({
      embeddings: vectors.map((values) => ({ values })),
      usageMetadata: { promptTokenCount: 2 * vectors.length },
    }),
  },
  'Vertex AI by :predict': { model: 'text-embedding-005', mostTexts: 250, ...predicted },
  'Vertex AI by :predict, one at a time': { model: 'gemini-embedding-001', mostTexts: 1, ...predicted },
  'Vertex AI by :embedContent': {
    ...{ model: 'gemini-embedding-2', mostTexts: 1, reportsUsage: true },
    textsIn: (body) => [textOf(body as { content: { parts: { text: string }[] } })],
    answer: ([values]) => ({ embedding: { values }, usageMetadata: { promptTokenCount: 2 } }),
  },
  'Titan on Bedrock': {
    ...{ model: 'amazon.titan-embed-text-v2:0', mostTexts: 1, reportsUsage: true },
    textsIn: ({ inputText }) => [inputText as string],
    answer: ([embedding]) => ({ embedding, inputTextTokenCount: 2 }),
  },
  'Cohere on Bedrock': {
    ...{ model: 'cohere.embed-english-v3', mostTexts: 96, reportsUsage: false },
    textsIn: ({ texts }) => texts as string[],
    answer: (embeddings) => ({ embeddings }),
  },
};
const google = services['the Gemini API'] as Service;

const textOf = ({ content }: { content: { parts: { text: string }[] } }) => content.parts[0]?.text ?? '';
const textsTo = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`);
/** Exact in 32 bits, so that it survives base64. */
const vectorOf = (text: string) => [Number(text.slice(5)), 0.5, -0.25];

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let [running, mostRunning] = [0, 0];

beforeAll(async () => {
  upstream = await startUpstream();
  const modelsOf = (...names: string[]) => ({ models: names });
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      aliases: [
        {
          name: 'vectors',
          targets: [
            { provider: 'other', model: 'text-embedding-004', priority: 0 },
            { provider: 'vertex', model: 'text-embedding-005', priority: 1 },
          ],
        },
      ],
      providers: [
        mainProvider(upstream.origin, { id: 'google', dialect: 'gemini', ...modelsOf('text-embedding-004') }),
        // Of the alias alone, so that no other test has put it into a cooldown.
        mainProvider(upstream.origin, { id: 'other', dialect: 'gemini', ...modelsOf('none') }),
        mainProvider(upstream.origin, {
          ...{ id: 'aws', dialect: 'bedrock' },
          ...modelsOf('amazon.titan-embed-text-v2:0', 'cohere.embed-english-v3'),
        }),
        mainProvider(upstream.origin + base, {
          ...{ id: 'vertex', dialect: 'vertex' },
          ...modelsOf('text-embedding-005', 'gemini-embedding-001', 'gemini-embedding-2'),
        }),
      ],
    },
    // The access key makes each request signed by itself.
    secrets: {
      'provider/google/c1': geminiKey,
      'provider/other/c1': geminiKey,
      'provider/aws/c1': 'AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG',
      'provider/vertex/c1': 'ya29.test',
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
  [running, mostRunning] = [0, 0];
  answerAs(google);
});

/** As a service that refuses more texts than it takes. `failing` may answer a part, by its place, in another way. */
function answerAs(service: Service, failing: Script = () => {}): void {
  upstream.answer(async (request, response, raw) => {
    running++;
    mostRunning = Math.max(mostRunning, running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    await failing(request, response, raw);
    if (response.headersSent || response.destroyed) return;
    const texts = service.textsIn(bodyOf(request));
    if (texts.length > service.mostTexts) sendGoogleError(response, 400, 'INVALID_ARGUMENT', 'too many texts');
    else json(response, service.answer(texts.map(vectorOf)));
  });
}

const partsSeen = ({ textsIn }: Service) => upstream.seen.map((request: SeenRequest) => textsIn(bodyOf(request)));

function askOpenai(model: string, texts: string[], encoding_format: 'float' | 'base64' = 'float') {
  return gateway.fetch('/embeddings', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: texts, encoding_format }),
  });
}

describe.each(Object.entries(services))('%s', (_name, service) => {
  const { model, mostTexts } = service;
  const counts = mostTexts === 1 ? [1, 2, 7] : [mostTexts, mostTexts + 1, 2 * mostTexts + 50];

  test.each(counts)('is asked for %i texts in parts that it takes', async (count) => {
    answerAs(service);
    const texts = textsTo(count);
    const response = await askOpenai(model, texts);
    const answer = await response.json();
    expect(response.status).toBe(200);
    expect(answer.data).toEqual(
      texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })),
    );
    const parts = partsSeen(service);
    expect(parts.flat()).toEqual(texts);
    expect(parts.map(({ length }) => length).slice(0, -1)).toEqual(
      Array(Math.ceil(count / mostTexts) - 1).fill(mostTexts),
    );
    expect(mostRunning).toBe(1);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'ok', attempts: [{ status: 200 }], usage: answer.usage && {} });
    if (service.reportsUsage) {
      expect([record.usage?.inputTokens, record.usageCertainty]).toEqual([2 * count, 'reported']);
      expect(answer.usage).toEqual({ prompt_tokens: 2 * count, total_tokens: 2 * count });
    } else expect(record.usage?.inputTokens).toBeGreaterThanOrEqual(count);
  });

  test('is asked in parts for clients that want base64, and for those of Gemini’s API', async () => {
    answerAs(service);
    const texts = textsTo(mostTexts + 3);
    const { data } = await gateway.client.embeddings.create({ model, input: texts });
    expect(data.map(({ embedding }) => embedding)).toEqual(texts.map(vectorOf));
    // The Gemini API gets the bytes of its own clients as they came.
    if (service === google) return;
    const response = await fetch(`${gateway.origin}/v1beta/models/${model}:batchEmbedContents`, {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
      body: JSON.stringify({ requests: texts.map((text) => ({ content: { parts: [{ text }] } })) }),
    });
    const { embeddings } = await response.json();
    expect(embeddings).toEqual(texts.map((text) => ({ values: vectorOf(text) })));
  });
});

test.each(Object.entries(services))('%s: long vectors are whole, whichever thread renders them', async (_, service) => {
  const { model, mostTexts, textsIn, answer } = service;
  const longOf = (text: string) => Array.from({ length: 3_000 }, (_each, at) => Number(text.slice(5)) + at / 4);
  upstream.answer((request, response) => json(response, answer(textsIn(bodyOf(request)).map(longOf))));
  const texts = textsTo(mostTexts + 3);
  for (const form of ['float', 'base64'] as const) {
    const { data } = await (await askOpenai(model, texts, form)).json();
    const vectors = data.map(({ embedding }: { embedding: number[] | string }) =>
      typeof embedding === 'string' ? floatsIn(embedding) : embedding,
    );
    expect(vectors).toEqual(texts.map(longOf));
    expect(data.map(({ index }: { index: number }) => index)).toEqual(texts.map((_text, index) => index));
  }
});

function floatsIn(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

describe('a part that fails', () => {
  const inPart = (place: number, fail: Script) =>
    answerAs(google, (request, response, raw) =>
      upstream.seen.length === place ? fail(request, response, raw) : undefined,
    );
  const ask = (count = 450) => askOpenai(google.model, textsTo(count));

  test('leads to another provider, which is asked for everything', async () => {
    const vertex = services['Vertex AI by :predict'] as Service;
    upstream.answer((request, response) => {
      const isGoogle = request.url.includes('batchEmbedContents');
      if (isGoogle && upstream.seen.length > 1) return sendGoogleError(response, 500, 'INTERNAL', 'no');
      const { textsIn, answer } = isGoogle ? google : vertex;
      json(response, answer(textsIn(bodyOf(request)).map(vectorOf)));
    });
    const answer = await (await askOpenai('vectors', textsTo(260))).json();
    expect(answer.data.map(({ embedding }: { embedding: number[] }) => embedding[0])).toEqual(
      textsTo(260).map((_, n) => n),
    );
    expect(upstream.seen.map(({ url }) => url.split(':').at(-1))).toEqual([
      ...['batchEmbedContents', 'batchEmbedContents', 'predict', 'predict'],
    ]);
  });

  test.each<[string, number, Script]>([
    ['a limit', 429, (_request, response) => sendGoogleError(response, 429, 'RESOURCE_EXHAUSTED', 'slow down')],
    ['a vector too few', 502, (_request, response) => json(response, { embeddings: [{ values: [1] }] })],
    ['no JSON', 502, (_request, response) => void response.end('<html>')],
    ['a reset', 502, (_request, response) => void response.destroy()],
  ])('by %s ends the request with %i: nothing is left out, and no more is asked', async (_what, status, fail) => {
    inPart(3, fail);
    const response = await ask();
    expect([response.status, Object.keys(await response.json())]).toEqual([status, ['error']]);
    expect(upstream.seen).toHaveLength(3);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    // What the first two parts used was paid for.
    expect(record.usage?.inputTokens).toBeGreaterThanOrEqual(400);
  });
});

test('a client that leaves between two parts ends the request', async () => {
  const gone = new AbortController();
  const left = Promise.withResolvers<void>();
  answerAs(google, async (_request, response) => {
    if (upstream.seen.length < 2) return;
    response.once('close', left.resolve);
    gone.abort();
    await left.promise;
  });
  const body = JSON.stringify({ model: google.model, input: textsTo(1_000) });
  const asked = gateway.fetch('/embeddings', {
    ...{ method: 'POST', body, signal: gone.signal },
    headers: { 'content-type': 'application/json' },
  });
  await expect(asked).rejects.toThrow();
  await left.promise;
  await eventually(async () => {
    const [row] = (await gateway.gateway.query({ type: 'requests' })).requests;
    return row?.outcome === 'client-gone';
  });
  expect(upstream.seen).toHaveLength(2);
});

test('long vectors in compressed answers arrive whole', async () => {
  const long = (text: string) => Array.from({ length: 3_072 }, (_, place) => Math.sin(Number(text.slice(5)) + place));
  upstream.answer((request, response) => {
    const answer = JSON.stringify(google.answer(google.textsIn(bodyOf(request)).map(long)), null, 2);
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(answer, { level: 1 }));
  });
  const response = await askOpenai(google.model, textsTo(250));
  const { data } = (await response.json()) as { data: { index: number; embedding: number[] }[] };
  expect(data.map(({ index }) => index)).toEqual(textsTo(250).map((_, index) => index));
  for (const index of [0, 99, 100, 249]) expect(data[index]?.embedding).toEqual(long(`text ${index}`));
});

test('more texts than OpenAI takes are refused before anything is asked', async () => {
  const response = await askOpenai(google.model, textsTo(2_049));
  expect(response.status).toBe(400);
  expect((await response.json()).error).toMatchObject({
    param: 'input',
    message: expect.stringContaining('2048 texts'),
  });
  expect(upstream.seen).toEqual([]);
});
