/** The thirteen routes that the built-in demo answers, with the official client and without any other provider. */
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectPng } from './open-window.ts';
import { type Sluice, startSluice } from './sluice.ts';

let sluice: Sluice;
let client: OpenAI;
beforeAll(async () => {
  sluice = await startSluice();
  client = sluice.client;
});
afterAll(() => sluice?.remove());

const messages = [{ role: 'user' as const, content: 'Hello there' }];
const chatModel = 'demo-chat';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('models', () => {
  test('are listed and retrieved', async () => {
    const names = (await all(client.models.list())).map(({ id }) => id);
    const demo = ['chat', 'embedding', 'image', 'speech', 'transcribe', 'video'].map((name) => `demo-${name}`);
    expect(names).toEqual(expect.arrayContaining(demo));
    expect(await client.models.retrieve('demo/demo-chat')).toMatchObject({ id: 'demo/demo-chat', object: 'model' });
    await expect(client.models.retrieve('demo-chart')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('chat', () => {
  test('answers plain and streamed, alike', async () => {
    const plain = await client.chat.completions.create({ model: chatModel, messages });
    const content = plain.choices[0]?.message.content ?? '';
    expect(content).not.toBe('');
    expect(plain.usage?.total_tokens).toBeGreaterThan(0);
    const chunks = await all(await client.chat.completions.create({ model: chatModel, messages, stream: true }));
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(content);
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  test('streams through the helper, with the usage that was asked for', async () => {
    const stream = client.chat.completions.stream({
      model: chatModel,
      messages,
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant' } });
    expect((await stream.totalUsage()).total_tokens).toBeGreaterThan(0);
  });
});

describe('responses', () => {
  const request = { model: chatModel, input: 'Hello there' };

  test('answer plain, are stored, gone on from, listed and deleted', async () => {
    const first = await client.responses.create(request);
    expect(first).toMatchObject({ status: 'completed', error: null });
    expect(first.output_text).not.toBe('');
    const second = await client.responses.create({ ...request, previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    expect((await client.responses.retrieve(second.id)).output_text).toBe(second.output_text);
    expect(await all(client.responses.inputItems.list(first.id))).toHaveLength(1);
    await client.responses.delete(first.id);
    await expect(client.responses.retrieve(first.id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(client.responses.create({ ...request, previous_response_id: first.id })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
    });
  });

  test('stream in order, and through the helper', async () => {
    const events = await all(await client.responses.create({ ...request, stream: true }));
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['response.created', 'response.completed']);
    const final = await client.responses.stream(request).finalResponse();
    const deltas = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
    expect(deltas.join('')).toBe(final.output_text);
  });
});

test('embeddings come as numbers by default, the same as those asked for as floats, and have the length 1', async () => {
  const request = { model: 'demo-embedding', input: ['one', 'two'] };
  const [one, two] = (await client.embeddings.create(request)).data.map(({ embedding }) => embedding);
  const floats = await client.embeddings.create({ ...request, encoding_format: 'float' });
  for (const [index, value] of (floats.data[0]?.embedding ?? []).entries()) expect(one?.[index]).toBeCloseTo(value, 6);
  expect(one).toHaveLength(floats.data[0]?.embedding.length ?? 0);
  expect(one).not.toEqual(two);
  expect(Math.hypot(...(one ?? []))).toBeCloseTo(1, 4);
});

describe('images', () => {
  const request = { model: 'demo-image', prompt: 'A hill', size: '256x256' as const };
  const pngOf = (image: { b64_json?: string | undefined } | undefined) => Buffer.from(image?.b64_json ?? '', 'base64');
  const upload = async (name: string) => {
    const { data } = await client.images.generate(request);
    return toFile(pngOf(data?.[0]), name, { type: 'image/png' });
  };

  test('are generated, plain and streamed', async () => {
    const { data } = await client.images.generate(request);
    expectPng(pngOf(data?.[0]), 256);
    const events = await all(await client.images.generate({ ...request, stream: true }));
    expect(events.map(({ type }) => type)).toEqual(['image_generation.completed']);
    expect(pngOf(events.at(-1)).equals(pngOf(data?.[0]))).toBe(true);
  });

  test('are edited from one file, from sixteen with a mask, and streamed', async () => {
    const image = await upload('hill.png');
    const one = await client.images.edit({ ...request, image });
    expectPng(pngOf(one.data?.[0]), 256);
    const many = Array.from({ length: 16 }, () => image);
    expectPng(pngOf((await client.images.edit({ ...request, image: many, mask: image })).data?.[0]), 256);
    const events = await all(await client.images.edit({ ...request, image, stream: true }));
    expect(pngOf(events.at(-1)).equals(pngOf(one.data?.[0]))).toBe(true);
  });
});

describe('audio', () => {
  const spoken = { model: 'demo-speech', voice: 'alloy', input: 'Hello there' };
  const speak = async () => Buffer.from(await (await client.audio.speech.create(spoken)).arrayBuffer());
  const listen = async () => ({ model: 'demo-transcribe', file: await toFile(await speak(), 'speech.wav') });

  test('is spoken as WAV', async () => {
    const wav = await speak();
    expect([wav.toString('latin1', 0, 4), wav.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WAVEfmt ']);
    expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
  });

  test('is spoken as events', async () => {
    const response = await client.audio.speech.create({ ...spoken, stream_format: 'sse' });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = (await response.text()).match(/(?<=^data: ).*$/gm)?.map((line) => JSON.parse(line)) ?? [];
    const pieces = events.flatMap((event) => (event.audio ? [Buffer.from(event.audio, 'base64')] : []));
    expect(Buffer.concat(pieces).equals(await speak())).toBe(true);
    expect(events.at(-1)?.type).toBe('speech.audio.done');
  });

  test('is transcribed: plain, streamed and as text', async () => {
    const request = await listen();
    const { text } = await client.audio.transcriptions.create(request);
    expect(text).toContain('built-in demo');
    const events = await all(await client.audio.transcriptions.create({ ...request, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text });
    expect(await client.audio.transcriptions.create({ ...request, response_format: 'text' })).toBe(`${text}\n`);
  });

  test('is translated', async () => {
    expect((await client.audio.translations.create(await listen())).text).toContain('built-in demo');
  });
});

test('a video is made, followed, downloaded and remixed', async () => {
  const video = await client.videos.create({ model: 'demo-video', prompt: 'A ball', seconds: '4' });
  expect(video).toMatchObject({ object: 'video', status: 'queued', seconds: '4' });
  await expect(client.videos.remix(video.id, { prompt: 'Rain' })).rejects.toMatchObject({ status: 400 });
  const states = new Set<string>([video.status]);
  while (!states.has('completed')) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    states.add((await client.videos.retrieve(video.id)).status);
  }
  expect([...states]).toEqual(['queued', 'in_progress', 'completed']);

  const download = await client.videos.downloadContent(video.id);
  const film = Buffer.from(await download.arrayBuffer());
  expect(download.headers.get('content-type')).toBe('video/mp4');
  expect(film.toString('latin1', 4, 8)).toBe('ftyp');
  const remix = await client.videos.remix(video.id, { prompt: 'Rain' });
  expect(remix.remixed_from_video_id).toBe(video.id);
  expect((await client.videos.retrieve(remix.id)).id).toBe(remix.id);
});
