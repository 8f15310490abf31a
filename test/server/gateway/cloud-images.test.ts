/** Images by models in a cloud through OpenAI's routes. */
import { toFile } from 'openai';
import { describe, expect, test } from 'vitest';
import { bodyOf } from '../../support/strict-anthropic.ts';
import { sendException } from '../../support/strict-bedrock.ts';
import { json } from '../../support/upstream.ts';
import { base, cloudsInSuite } from './clouds.ts';

const painter = 'stability.stable-image-core-v1:1';
const imagen = 'imagen-4.0-generate-001';
const clouds = cloudsInSuite(
  { aws: [painter, 'amazon.nova-pro-v1:0'], vertex: [imagen] },
  { aliases: [{ name: 'dall-e-3', targets: [{ provider: 'main', model: painter }] }] },
);

/** Longer than the part of an answer that is parsed. */
const picture = Buffer.alloc(30_000, 'a picture').toString('base64');
const asked = { model: painter, prompt: 'A cat' };

async function recordOf(response: Response) {
  return clouds.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
}

describe('Stability AI on Bedrock', () => {
  test('makes an image', async () => {
    clouds.aws.answer((_request, response) =>
      json(response, { seeds: [1], finish_reasons: [null], images: [picture] }),
    );
    const { data, response } = await clouds.client.images
      .generate({ model: 'dall-e-3', prompt: 'A cat', size: '1792x1024', output_format: 'jpeg', quality: 'hd' })
      .withResponse();
    expect(data).toMatchObject({ data: [{ b64_json: picture }], output_format: 'jpeg' });
    expect(clouds.aws.seen.map(({ url }) => url)).toEqual(['/model/stability.stable-image-core-v1%3A1/invoke']);
    expect(clouds.aws.seen.map(bodyOf)).toEqual([{ prompt: 'A cat', aspect_ratio: '16:9', output_format: 'jpeg' }]);
    expect(response.headers.get('x-sluice-dropped')).toBe('quality;why=no-equal');
    expect(response.headers.get('x-sluice-emulated')).toBe('size;why=out-of-range');
    expect(await recordOf(response)).toMatchObject({ outcome: 'ok', capability: 'images', usage: { images: 1 } });
  });

  test('makes a PNG, which is the last event of a stream', async () => {
    clouds.aws.answer((_request, response) =>
      json(response, { seeds: [1], finish_reasons: [null], images: [picture] }),
    );
    const events: unknown[] = [];
    for await (const event of await clouds.client.images.generate({ ...asked, stream: true })) events.push(event);
    expect(events).toMatchObject([{ type: 'image_generation.completed', b64_json: picture, output_format: 'png' }]);
    expect(clouds.aws.seen.map(bodyOf)).toEqual([{ prompt: 'A cat', output_format: 'png' }]);
  });

  test('reports what its filters refuse, which costs nothing', async () => {
    clouds.aws.answer((_request, response) => json(response, { finish_reasons: ['Filter reason: prompt'] }));
    const failing = clouds.client.images.generate(asked);
    await expect(failing).rejects.toMatchObject({
      status: 400,
      code: 'moderation_blocked',
      message: expect.stringContaining('Filter reason: prompt'),
    });
    expect(clouds.aws.seen).toHaveLength(1);
  });

  test('fails where it has neither an image nor a reason of its filters', async () => {
    clouds.aws.answer((_request, response) => json(response, { finish_reasons: ['Inference error'] }));
    await expect(clouds.client.images.generate(asked)).rejects.toMatchObject({ status: 502 });
  });

  test('reports errors in OpenAI’s format', async () => {
    clouds.aws.answer((_request, response) => sendException(response, 400, 'ValidationException', 'prompt: too long'));
    const error = { type: 'invalid_request_error', message: 'prompt: too long' };
    await expect(clouds.client.images.generate(asked)).rejects.toMatchObject({ status: 400, error });
  });

  test('is not asked for several images at a time', async () => {
    const failing = clouds.client.images.generate({ ...asked, n: 2 });
    await expect(failing).rejects.toMatchObject({ status: 400, param: 'n' });
    expect(clouds.aws.seen).toEqual([]);
  });

  test('is not asked to edit, since it takes no such request', async () => {
    const image = await toFile(Buffer.from('a cat'), 'cat.png', { type: 'image/png' });
    const failing = clouds.client.images.edit({ model: painter, image, prompt: 'Add a hat' });
    await expect(failing).rejects.toMatchObject({ status: 404, message: expect.stringContaining('cannot serve') });
    expect(clouds.aws.seen).toEqual([]);
  });
});

test('a text model on Bedrock is not asked for images', async () => {
  const failing = clouds.client.images.generate({ model: 'amazon.nova-pro-v1:0', prompt: 'A cat' });
  await expect(failing).rejects.toMatchObject({ status: 404, message: expect.stringContaining('cannot serve') });
  expect(clouds.aws.seen).toEqual([]);
});

test('Imagen on Vertex AI makes images, which are paid by number', async () => {
  const predictions = [1, 2].map(() => ({ bytesBase64Encoded: picture, mimeType: 'image/png' }));
  clouds.vertex.answer((_request, response) => json(response, { predictions }));
  const { data, response } = await clouds.client.images
    .generate({ model: imagen, prompt: 'A cat', n: 2 })
    .withResponse();
  expect(data).toMatchObject({ data: [{ b64_json: picture }, { b64_json: picture }] });
  const path = `${base}/publishers/google/models/imagen-4.0-generate-001:predict`;
  expect(clouds.vertex.seen.map(({ url }) => url)).toEqual([path]);
  expect(await recordOf(response)).toMatchObject({ usage: { images: 2 }, usageCertainty: 'estimated' });
});
