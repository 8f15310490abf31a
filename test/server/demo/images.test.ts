import { inflateSync } from 'node:zlib';
import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leastWorkOf } from '../../support/cpu-work.ts';
import { collect, type DemoHarness, startHarness } from './harness.ts';

const model = 'demo-image';

function readPng(base64 = '') {
  const bytes = Buffer.from(base64, 'base64');
  const rows = inflateSync(bytes.subarray(41, 41 + bytes.readUInt32BE(33)));
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  return { size: `${width}x${height}`, isWhole: rows.length === (width * 3 + 1) * height };
}

describe('images', () => {
  let harness: DemoHarness;
  let picture: Buffer;
  beforeAll(async () => {
    harness = await startHarness();
    const { data } = await harness.client.images.generate({ model, prompt: 'seed', size: '64x64' });
    picture = Buffer.from(data?.[0]?.b64_json ?? '', 'base64');
  });
  afterAll(() => harness.demo.stop());

  const upload = (name: string) => toFile(picture, name, { type: 'image/png' });
  const refusal = async (path: string, body: object) => {
    const response = await harness.request('POST', path, { model, ...body });
    return { status: response.status, ...(await response.json()) };
  };

  it('are PNG of 1024 by 1024 pixels unless asked otherwise', async () => {
    const images = await harness.client.images.generate({ prompt: 'A lake' });
    expect(images).toEqual({
      created: Date.UTC(2026, 0, 1) / 1000,
      data: [{ b64_json: expect.any(String) }],
      background: 'opaque',
      output_format: 'png',
      quality: 'medium',
      size: '1024x1024',
      usage: {
        input_tokens: 2,
        input_tokens_details: { text_tokens: 2, image_tokens: 0 },
        output_tokens: 1024,
        output_tokens_details: { text_tokens: 0, image_tokens: 1024 },
        total_tokens: 1026,
      },
    });
    expect(readPng(images.data?.[0]?.b64_json)).toMatchObject({ size: '1024x1024', isWhole: true });
  });

  it('are drawn with little work', async () => {
    const request = { model, prompt: 'Quick', size: '1024x1024' } as const;
    expect(await leastWorkOf(() => harness.client.images.generate(request), 100)).toBeLessThan(100);
  });

  it('follow from the prompt, and differ from one to the next', async () => {
    const request = { model, prompt: 'Two', n: 2, size: '64x64' } as const;
    const [first, second] = [
      await harness.client.images.generate(request),
      await harness.client.images.generate(request),
    ];
    expect(first.data).toEqual(second.data);
    expect(first.data?.[0]).not.toEqual(first.data?.[1]);
    const other = await harness.client.images.generate({ ...request, prompt: 'Other' });
    expect(other.data?.[0]).not.toEqual(first.data?.[0]);
  });

  it('come as a data URL for response_format url', async () => {
    const images = await harness.client.images.generate({ model, prompt: 'x', size: '64x64', response_format: 'url' });
    const fetched = await fetch(images.data?.[0]?.url ?? '');
    expect(fetched.headers.get('content-type')).toBe('image/png');
    expect(images.data?.[0]).not.toHaveProperty('b64_json');
  });

  it('stream partial images, then the completed one', async () => {
    const request = { model, prompt: 'Stream', size: '64x64' } as const;
    const plain = await harness.client.images.generate(request);
    const events = await collect(await harness.client.images.generate({ ...request, stream: true, partial_images: 2 }));
    expect(events.map((event) => event.type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    const common = {
      created_at: plain.created,
      size: '64x64',
      quality: 'medium',
      background: 'opaque',
      output_format: 'png',
    };
    expect(events[1]).toMatchObject({ ...common, partial_image_index: 1 });
    expect(events[2]).toMatchObject({ ...common, b64_json: plain.data?.[0]?.b64_json, usage: plain.usage });
  });

  it('are edited from one picture, several and a mask', async () => {
    const one = await harness.client.images.edit({
      model,
      image: await upload('a.png'),
      prompt: 'Redder',
      size: '64x64',
    });
    expect(one.usage).toMatchObject({ input_tokens_details: { text_tokens: 2, image_tokens: 256 } });
    const two = await harness.client.images.edit({
      model,
      image: [await upload('a.png'), await upload('b.png')],
      mask: await upload('mask.png'),
      prompt: 'Redder',
      n: 2,
      size: '64x64',
    });
    expect(two.usage?.input_tokens_details).toEqual({ text_tokens: 2, image_tokens: 768 });
    expect(two.data).toHaveLength(2);
    expect(readPng(two.data?.[1]?.b64_json)).toMatchObject({ size: '64x64', isWhole: true });
  });

  it('are edited from a form as a stream', async () => {
    const request = { model, image: await upload('a.png'), prompt: 'x', size: '64x64', partial_images: 1 } as const;
    const events = await collect(await harness.client.images.edit({ ...request, stream: true }));
    expect(events.map((event) => event.type)).toEqual(['image_edit.partial_image', 'image_edit.completed']);
  });

  it('are edited from JSON with addresses', async () => {
    const dataUrl = `data:image/png;base64,${picture.toString('base64')}`;
    const images = [{ image_url: dataUrl }, { image_url: 'https://example.com/a.png' }, { file_id: 'file_1' }];
    const edited = await refusal('/images/edits', { prompt: 'x', images, size: '64x64' });
    expect(edited).toMatchObject({ status: 200, usage: { input_tokens_details: { image_tokens: 768 } } });
  });

  it('are varied', async () => {
    const varied = await harness.client.images.createVariation({
      model,
      image: await upload('a.png'),
      n: 2,
      size: '256x256',
    });
    expect(varied.data?.map((image) => readPng(image.b64_json).size)).toEqual(['256x256', '256x256']);
  });

  it.each([
    ['/images/generations', {}, 'missing_required_parameter', 'prompt'],
    ['/images/generations', { prompt: 'x', n: 11 }, 'invalid_value', 'n'],
    ['/images/generations', { prompt: 'x', size: 'huge' }, 'invalid_value', 'size'],
    ['/images/generations', { prompt: 'x', size: '9999x9999' }, 'invalid_value', 'size'],
    ['/images/generations', { prompt: 'x', output_format: 'webp' }, 'invalid_value', 'output_format'],
    ['/images/generations', { prompt: 'x', partial_images: 4 }, 'invalid_value', 'partial_images'],
    ['/images/edits', { prompt: 'x' }, 'missing_required_parameter', 'image'],
  ])('refuse %s of %j', async (path, body, code, param) => {
    expect(await refusal(path, body)).toMatchObject({ status: 400, error: { code, param } });
  });

  it('refuse text in the place of a file', async () => {
    const form = new FormData();
    form.set('prompt', 'x');
    form.set('image', 'text');
    const response = await fetch(`${harness.demo.baseUrl}/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.demo.secret}` },
      body: form,
    });
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_type', param: 'image' } });
  });
});
