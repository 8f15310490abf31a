/** Images of models in a cloud, by OpenAI's routes. */
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyOf } from '../../support/strict-anthropic.ts';
import { bedrockKey, sendException } from '../../support/strict-bedrock.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const base = '/v1/projects/p1/locations/us-east5';
const painter = 'stability.stable-image-core-v1:1';
const imagen = 'imagen-4.0-generate-001';
let aws: ScriptedUpstream;
let vertex: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  [aws, vertex] = await Promise.all([startUpstream(), startUpstream()]);
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [
        mainProvider(aws.origin, { dialect: 'bedrock', models: [painter, 'amazon.nova-pro-v1:0'] }),
        mainProvider(vertex.origin + base, { id: 'vertex', dialect: 'vertex', models: [imagen] }),
      ],
      aliases: [{ name: 'dall-e-3', targets: [{ provider: 'main', model: painter }] }],
    },
    secrets: { 'provider/main/c1': bedrockKey, 'provider/vertex/c1': 'ya29.test' },
  });
  client = gateway.client;
});
afterAll(async () => {
  await gateway.stop();
  await aws.stop();
  await vertex.stop();
});
beforeEach(() => {
  aws.seen.length = 0;
  vertex.seen.length = 0;
});

/** Longer than what is parsed of an answer. */
const picture = Buffer.alloc(30_000, 'a picture').toString('base64');
const asked = { model: painter, prompt: 'A cat' };

async function recordOf(response: Response) {
  return gateway.record(response.headers.get('x-sluice-request-id') ?? '');
}

describe('Stability AI on Bedrock', () => {
  test('makes an image', async () => {
    aws.answer((_request, response) => json(response, { seeds: [1], finish_reasons: [null], images: [picture] }));
    const { data, response } = await client.images
      .generate({ model: 'dall-e-3', prompt: 'A cat', size: '1792x1024', output_format: 'jpeg', quality: 'hd' })
      .withResponse();
    expect(data).toMatchObject({ data: [{ b64_json: picture }], output_format: 'jpeg' });
    expect(aws.seen.map(({ url }) => url)).toEqual(['/model/stability.stable-image-core-v1%3A1/invoke']);
    expect(aws.seen.map(bodyOf)).toEqual([{ prompt: 'A cat', aspect_ratio: '16:9', output_format: 'jpeg' }]);
    expect(response.headers.get('x-sluice-dropped')).toBe('quality;why=no-equal');
    expect(response.headers.get('x-sluice-emulated')).toBe('size;why=out-of-range');
    expect(await recordOf(response)).toMatchObject({ outcome: 'ok', capability: 'images', usage: { images: 1 } });
  });

  test('makes a PNG, which is the last event of a stream', async () => {
    aws.answer((_request, response) => json(response, { seeds: [1], finish_reasons: [null], images: [picture] }));
    const events: unknown[] = [];
    for await (const event of await client.images.generate({ ...asked, stream: true })) events.push(event);
    expect(events).toMatchObject([{ type: 'image_generation.completed', b64_json: picture, output_format: 'png' }]);
    expect(aws.seen.map(bodyOf)).toEqual([{ prompt: 'A cat', output_format: 'png' }]);
  });

  test('tells what its filters refuse, which costs nothing', async () => {
    aws.answer((_request, response) => json(response, { finish_reasons: ['Filter reason: prompt'] }));
    const failing = client.images.generate(asked);
    await expect(failing).rejects.toMatchObject({
      status: 400,
      code: 'moderation_blocked',
      message: expect.stringContaining('Filter reason: prompt'),
    });
    expect(aws.seen).toHaveLength(1);
  });

  test('fails where it has neither an image nor a reason of its filters', async () => {
    aws.answer((_request, response) => json(response, { finish_reasons: ['Inference error'] }));
    await expect(client.images.generate(asked)).rejects.toMatchObject({ status: 502 });
  });

  test('fails in OpenAI’s words', async () => {
    aws.answer((_request, response) => sendException(response, 400, 'ValidationException', 'prompt: too long'));
    const error = { type: 'invalid_request_error', message: 'prompt: too long' };
    await expect(client.images.generate(asked)).rejects.toMatchObject({ status: 400, error });
  });

  test('is not asked for several images at a time', async () => {
    const failing = client.images.generate({ ...asked, n: 2 });
    await expect(failing).rejects.toMatchObject({ status: 400, param: 'n' });
    expect(aws.seen).toEqual([]);
  });

  test('is not asked to edit, since it takes no such request', async () => {
    const image = await toFile(Buffer.from('a cat'), 'cat.png', { type: 'image/png' });
    const failing = client.images.edit({ model: painter, image, prompt: 'Add a hat' });
    await expect(failing).rejects.toMatchObject({ status: 404, message: expect.stringContaining('cannot serve') });
    expect(aws.seen).toEqual([]);
  });
});

test('a model on Bedrock that writes is not asked for images', async () => {
  const failing = client.images.generate({ model: 'amazon.nova-pro-v1:0', prompt: 'A cat' });
  await expect(failing).rejects.toMatchObject({ status: 404, message: expect.stringContaining('cannot serve') });
  expect(aws.seen).toEqual([]);
});

test('Imagen on Vertex AI makes images, which are paid by number', async () => {
  const predictions = [1, 2].map(() => ({ bytesBase64Encoded: picture, mimeType: 'image/png' }));
  vertex.answer((_request, response) => json(response, { predictions }));
  const { data, response } = await client.images.generate({ model: imagen, prompt: 'A cat', n: 2 }).withResponse();
  expect(data).toMatchObject({ data: [{ b64_json: picture }, { b64_json: picture }] });
  const path = `${base}/publishers/google/models/imagen-4.0-generate-001:predict`;
  expect(vertex.seen.map(({ url }) => url)).toEqual([path]);
  expect(await recordOf(response)).toMatchObject({ usage: { images: 2 }, usageCertainty: 'estimated' });
});
