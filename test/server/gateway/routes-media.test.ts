import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { ClientRoutes } from './client-routes.ts';
import { all, input, model, samples } from './streams.ts';

const routes = new ClientRoutes().use();

const file = (name = 'speech.wav') =>
  new File([Buffer.from('RIFF\r\n--x\0\xff', 'latin1')], name, { type: 'audio/wav' });

const picture = (name: string) => new File(['\x89PNG'], name, { type: 'image/png' });

describe('images', () => {
  const images = { created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }], usage: { input_tokens: 1, output_tokens: 2 } };

  test('generated', async () => {
    routes.answers(images);
    expect(await routes.client.images.generate({ model, prompt: 'A cat' })).toMatchObject(images);
    routes.expectArrived('POST', '/v1/images/generations');
  });

  test('generated as a stream', async () => {
    routes.streams('images');
    const events = await all(
      await routes.client.images.generate({ model, prompt: 'A cat', stream: true, partial_images: 1 }),
    );
    expect(events.map((event) => event.type)).toEqual(['image_generation.partial_image', 'image_generation.completed']);
    routes.expectArrived('POST', '/v1/images/generations');
  });

  test('edited from one file, and from several', async () => {
    routes.answers(images);
    await routes.client.images.edit({ model, prompt: 'Hat', image: picture('a.png'), mask: picture('m.png') });
    routes.expectArrived('POST', '/v1/images/edits');
    await routes.client.images.edit({ image: [picture('a.png'), picture('b.png')], prompt: 'Hat', model });
    routes.expectArrived('POST', '/v1/images/edits');
    expect(routes.sent.toString('latin1').match(/name="image\[\]"/g)).toHaveLength(2);
  });

  test('edited as a stream', async () => {
    routes.streams('image edits');
    const events = await all(
      await routes.client.images.edit({ model, prompt: 'Hat', image: picture('a.png'), stream: true }),
    );
    expect(events.at(-1)?.type).toBe('image_edit.completed');
    routes.expectArrived('POST', '/v1/images/edits');
  });

  test('varied', async () => {
    routes.answers(images);
    await routes.client.images.createVariation({ model, image: picture('a.png') });
    routes.expectArrived('POST', '/v1/images/variations');
  });
});

describe('audio', () => {
  test('transcribed as JSON and as text', async () => {
    routes.answers({ text: 'Guten Tag', usage: { type: 'duration', seconds: 3 } });
    const transcription = await routes.client.audio.transcriptions.create({
      file: file(),
      model,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
      chunking_strategy: { type: 'server_vad', threshold: 0.5 },
    });
    expect(transcription.text).toBe('Guten Tag');
    routes.expectArrived('POST', '/v1/audio/transcriptions');
    expect(routes.sent.toString('latin1')).toContain('name="chunking_strategy[type]"');
    routes.answers(Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nGrüße\n'), 'text/plain; charset=utf-8');
    const text = await routes.client.audio.transcriptions.create({ file: file(), model, response_format: 'srt' });
    expect(text).toBe('1\n00:00:00,000 --> 00:00:01,000\nGrüße\n');
  });

  test('transcribed as a stream', async () => {
    routes.streams('transcription without event lines');
    const events = await all(await routes.client.audio.transcriptions.create({ file: file(), model, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: 'Guten Tag ä' });
    routes.expectArrived('POST', '/v1/audio/transcriptions');
  });

  test('translated', async () => {
    routes.answers({ text: 'Good day' });
    expect(await routes.client.audio.translations.create({ file: file('ü.mp3'), model })).toMatchObject({
      text: 'Good day',
    });
    routes.expectArrived('POST', '/v1/audio/translations');
  });

  test('spoken', async () => {
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
    routes.answers(bytes, 'audio/mpeg');
    const speech = await routes.client.audio.speech.create({ model, input, voice: 'alloy' });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await speech.arrayBuffer()).equals(bytes)).toBe(true);
    routes.expectArrived('POST', '/v1/audio/speech');
  });

  test('spoken as events', async () => {
    routes.streams('speech');
    const speech = await routes.client.audio.speech.create({ model, input, voice: 'alloy', stream_format: 'sse' });
    expect(await speech.text()).toBe(samples.find((sample) => sample.name === 'speech')?.bytes.toString());
    expect(await routes.gateway.record(speech.headers.get('x-request-id') ?? '')).toMatchObject({
      outcome: 'ok',
      usageCertainty: 'reported',
      usage: { inputTokens: 5, outputTokens: 9, characters: 2 },
    });
  });
});

describe('videos', () => {
  const video = (id: string) => ({ id, object: 'video', model, status: 'queued', progress: 0, seconds: '4' });
  const create = (id: string) => {
    routes.answers(video(id));
    return routes.client.videos.create({ model, prompt: 'A cat', seconds: '4' });
  };

  test('created as a form, with a reference', async () => {
    routes.answers(video('video_form'));
    await routes.client.videos.create({ model, prompt: 'A cat', input_reference: picture('a.png') });
    routes.expectArrived('POST', '/v1/videos');
    expect(routes.upstream.seen.at(-1)?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  });

  test('created from JSON', async () => {
    routes.answers(video('video_json'));
    await routes.client.post('/videos', { body: { prompt: 'A cat', seconds: '4' } });
    routes.expectArrived('POST', '/v1/videos');
  });

  test('asked for, and its content in a variant', async () => {
    await create('video_1');
    routes.answers({ ...video('video_1'), status: 'completed' });
    expect((await routes.client.videos.retrieve('video_1')).status).toBe('completed');
    routes.expectArrived('GET', '/v1/videos/video_1');
    routes.answers(Buffer.from('RIFFwebp'), 'image/webp');
    const content = await routes.client.videos.downloadContent('video_1', { variant: 'thumbnail' });
    expect([content.headers.get('content-type'), await content.text()]).toEqual(['image/webp', 'RIFFwebp']);
    routes.expectArrived('GET', '/v1/videos/video_1/content?variant=thumbnail');
  });

  test('remixed; the remix is a video of its own', async () => {
    await create('video_2');
    routes.answers({ ...video('video_3'), remixed_from_video_id: 'video_2' });
    expect((await routes.client.videos.remix('video_2', { prompt: 'Rain' })).id).toBe('video_3');
    routes.expectArrived('POST', '/v1/videos/video_2/remix');
    routes.answers(video('video_3'));
    await routes.client.videos.retrieve('video_3');
    routes.expectArrived('GET', '/v1/videos/video_3');
  });

  test('deleted, and gone for Sluice too', async () => {
    await create('video_4');
    routes.answers({ id: 'video_4', object: 'video.deleted', deleted: true });
    await routes.client.videos.delete('video_4');
    routes.expectArrived('DELETE', '/v1/videos/video_4');
    await expect(routes.client.videos.retrieve('video_4')).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('an id with characters of a path reaches the upstream as it came', async () => {
    await create('operations/a b');
    routes.answers(video('operations/a b'));
    await routes.client.videos.retrieve('operations/a b');
    routes.expectArrived('GET', '/v1/videos/operations%2Fa%20b');
  });
});
