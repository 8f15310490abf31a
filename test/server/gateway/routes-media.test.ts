import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, oddCuts, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';
import { all, input, model } from './sent-files.ts';
import { samples } from './streams.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

/** The body as the official client put it on the wire. */
let sent: Buffer;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  client = gateway.client.withOptions({
    fetch: async (url, init) => {
      const request = new Request(url, init);
      sent = Buffer.from(await request.arrayBuffer());
      const { method, headers, signal } = request;
      return fetch(url, { method, headers, signal, ...(sent.length > 0 && { body: new Uint8Array(sent) }) });
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

beforeEach(() => {
  sent = Buffer.alloc(0);
});

/** What the next request is answered, in odd pieces. */
function answers(value: unknown, contentType = 'application/json'): void {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
  upstream.answer((_request, response) => {
    response.writeHead(200, { 'content-type': contentType, 'x-request-id': 'req_of_upstream' });
    return sendPieces(response, bytes, oddCuts(bytes.length));
  });
}

function streams(name: string): void {
  const sample = samples.find((one) => one.name === name);
  if (!sample) throw new Error(`There is no sample "${name}".`);
  upstream.answer((_request, response) => {
    eventStream(response);
    return sendPieces(response, sample.bytes, oddCuts(sample.bytes.length));
  });
}

/** The request arrived as the client sent it, but for the credential. */
function expectArrived(method: string, url: string): void {
  const seen = upstream.seen.at(-1);
  expect([seen?.method, seen?.url]).toEqual([method, url]);
  expect(seen?.body.equals(sent)).toBe(true);
  expect(seen?.headers).toMatchObject({
    authorization: 'Bearer upstream-secret',
    host: new URL(upstream.origin).host,
    'accept-encoding': 'identity',
    'x-sluice-hops': '1',
    'x-stainless-lang': 'js',
  });
  expect(seen?.headers['user-agent']).toMatch(/^OpenAI\/JS /);
  expect(JSON.stringify(seen?.headers)).not.toContain(testKey);
}

const file = (name = 'speech.wav') =>
  new File([Buffer.from('RIFF\r\n--x\0\xff', 'latin1')], name, { type: 'audio/wav' });

const picture = (name: string) => new File(['\x89PNG'], name, { type: 'image/png' });

describe('images', () => {
  const images = { created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }], usage: { input_tokens: 1, output_tokens: 2 } };

  test('generated', async () => {
    answers(images);
    expect(await client.images.generate({ model, prompt: 'A cat' })).toMatchObject(images);
    expectArrived('POST', '/v1/images/generations');
  });

  test('generated as a stream', async () => {
    streams('images');
    const events = await all(await client.images.generate({ model, prompt: 'A cat', stream: true, partial_images: 1 }));
    expect(events.map((event) => event.type)).toEqual(['image_generation.partial_image', 'image_generation.completed']);
    expectArrived('POST', '/v1/images/generations');
  });

  test('edited from one file, and from several', async () => {
    answers(images);
    await client.images.edit({ model, prompt: 'Hat', image: picture('a.png'), mask: picture('m.png') });
    expectArrived('POST', '/v1/images/edits');
    await client.images.edit({ image: [picture('a.png'), picture('b.png')], prompt: 'Hat', model });
    expectArrived('POST', '/v1/images/edits');
    expect(sent.toString('latin1').match(/name="image\[\]"/g)).toHaveLength(2);
  });

  test('edited as a stream', async () => {
    streams('image edits');
    const events = await all(await client.images.edit({ model, prompt: 'Hat', image: picture('a.png'), stream: true }));
    expect(events.at(-1)?.type).toBe('image_edit.completed');
    expectArrived('POST', '/v1/images/edits');
  });

  test('varied', async () => {
    answers(images);
    await client.images.createVariation({ model, image: picture('a.png') });
    expectArrived('POST', '/v1/images/variations');
  });
});

describe('audio', () => {
  test('transcribed as JSON and as text', async () => {
    answers({ text: 'Guten Tag', usage: { type: 'duration', seconds: 3 } });
    const transcription = await client.audio.transcriptions.create({
      file: file(),
      model,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
      chunking_strategy: { type: 'server_vad', threshold: 0.5 },
    });
    expect(transcription.text).toBe('Guten Tag');
    expectArrived('POST', '/v1/audio/transcriptions');
    expect(sent.toString('latin1')).toContain('name="chunking_strategy[type]"');
    answers(Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nGrüße\n'), 'text/plain; charset=utf-8');
    const text = await client.audio.transcriptions.create({ file: file(), model, response_format: 'srt' });
    expect(text).toBe('1\n00:00:00,000 --> 00:00:01,000\nGrüße\n');
  });

  test('transcribed as a stream', async () => {
    streams('transcription without event lines');
    const events = await all(await client.audio.transcriptions.create({ file: file(), model, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: 'Guten Tag ä' });
    expectArrived('POST', '/v1/audio/transcriptions');
  });

  test('translated', async () => {
    answers({ text: 'Good day' });
    expect(await client.audio.translations.create({ file: file('ü.mp3'), model })).toMatchObject({ text: 'Good day' });
    expectArrived('POST', '/v1/audio/translations');
  });

  test('spoken', async () => {
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
    answers(bytes, 'audio/mpeg');
    const speech = await client.audio.speech.create({ model, input, voice: 'alloy' });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await speech.arrayBuffer()).equals(bytes)).toBe(true);
    expectArrived('POST', '/v1/audio/speech');
  });

  test('spoken as events', async () => {
    streams('speech');
    const speech = await client.audio.speech.create({ model, input, voice: 'alloy', stream_format: 'sse' });
    expect(await speech.text()).toBe(samples.find((sample) => sample.name === 'speech')?.bytes.toString());
    expect(await gateway.record(speech.headers.get('x-request-id') ?? '')).toMatchObject({
      outcome: 'ok',
      usageCertainty: 'reported',
      usage: { inputTokens: 5, outputTokens: 9, characters: 2 },
    });
  });
});

describe('videos', () => {
  const video = (id: string) => ({ id, object: 'video', model, status: 'queued', progress: 0, seconds: '4' });
  const create = (id: string) => {
    answers(video(id));
    return client.videos.create({ model, prompt: 'A cat', seconds: '4' });
  };

  test('created as a form, with a reference', async () => {
    answers(video('video_form'));
    await client.videos.create({ model, prompt: 'A cat', input_reference: picture('a.png') });
    expectArrived('POST', '/v1/videos');
    expect(upstream.seen.at(-1)?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  });

  test('created from JSON', async () => {
    answers(video('video_json'));
    await client.post('/videos', { body: { prompt: 'A cat', seconds: '4' } });
    expectArrived('POST', '/v1/videos');
  });

  test('asked for, and its content in a variant', async () => {
    await create('video_1');
    answers({ ...video('video_1'), status: 'completed' });
    expect((await client.videos.retrieve('video_1')).status).toBe('completed');
    expectArrived('GET', '/v1/videos/video_1');
    answers(Buffer.from('RIFFwebp'), 'image/webp');
    const content = await client.videos.downloadContent('video_1', { variant: 'thumbnail' });
    expect([content.headers.get('content-type'), await content.text()]).toEqual(['image/webp', 'RIFFwebp']);
    expectArrived('GET', '/v1/videos/video_1/content?variant=thumbnail');
  });

  test('remixed; the remix is a video of its own', async () => {
    await create('video_2');
    answers({ ...video('video_3'), remixed_from_video_id: 'video_2' });
    expect((await client.videos.remix('video_2', { prompt: 'Rain' })).id).toBe('video_3');
    expectArrived('POST', '/v1/videos/video_2/remix');
    answers(video('video_3'));
    await client.videos.retrieve('video_3');
    expectArrived('GET', '/v1/videos/video_3');
  });

  test('deleted, and gone for Sluice too', async () => {
    await create('video_4');
    answers({ id: 'video_4', object: 'video.deleted', deleted: true });
    await client.videos.delete('video_4');
    expectArrived('DELETE', '/v1/videos/video_4');
    await expect(client.videos.retrieve('video_4')).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('an id with characters of a path reaches the upstream as it came', async () => {
    await create('operations/a b');
    answers(video('operations/a b'));
    await client.videos.retrieve('operations/a b');
    expectArrived('GET', '/v1/videos/operations%2Fa%20b');
  });
});
