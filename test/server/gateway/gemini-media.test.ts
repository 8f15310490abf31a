/** Images, speech and transcripts by Gemini's models for clients of OpenAI's API. */
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyOf } from '../../support/strict-chat.ts';
import { geminiKey, generated, sendGoogleError, strictGemini, usageMetadata } from '../../support/strict-gemini.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../translate/translating.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.origin, { dialect: 'gemini', models: ['*'] })],
      aliases: [{ name: 'dall-e-3', targets: [{ provider: 'main', model: 'imagen-4.0-generate-001' }] }],
    },
    secrets: { 'provider/main/c1': geminiKey },
  });
  client = gateway.client;
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const painter = 'gemini-3.1-flash-image';
const speaker = 'gemini-3.8-flash-tts';
const listener = 'gemini-3.5-flash';
const picture = Buffer.from('a picture').toString('base64');
const samples = Buffer.from([1, 0, 2, 0, 3, 0]);

const image = { inlineData: { mimeType: 'image/png', data: picture } };
const sound = { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: samples.toString('base64') } };

function answers(parts: Json[], more: object = { finishReason: 'STOP', usageMetadata }): void {
  upstream.answer(strictGemini((_call, response) => json(response, generated(parts, more))));
}

function sent(): Json {
  const [seen] = upstream.seen;
  if (!seen) throw new Error('Nothing was asked.');
  return bodyOf(seen);
}

describe('images', () => {
  test('are made by a Gemini model, with what they cost', async () => {
    answers([{ text: 'Thinking of cats.', thought: true }, image]);
    const { data, response } = await client.images
      .generate({ model: painter, prompt: 'A cat', size: '1536x1024', quality: 'high' })
      .withResponse();
    expect(data).toMatchObject({
      data: [{ b64_json: picture }],
      output_format: 'png',
      usage: { input_tokens: 30, output_tokens: 9, total_tokens: 39 },
    });
    expect(upstream.seen[0]?.url).toBe(`/v1beta/models/${painter}:generateContent`);
    expect(sent()).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    });
    expect(response.headers.get('x-sluice-dropped')).toBe('quality;why=no-equal');
    expect(response.headers.get('x-sluice-emulated')).toBe('size;why=out-of-range');
    expect(await gateway.record(response.headers.get('x-sluice-request-id') ?? '')).toMatchObject({
      capability: 'images',
      outcome: 'ok',
      usage: { inputTokens: 30, outputTokens: 9 },
    });
  });

  test('are streamed as their last event', async () => {
    answers([image]);
    const events: unknown[] = [];
    const stream = await client.images.generate({ model: painter, prompt: 'A cat', stream: true });
    for await (const event of stream) events.push(event);
    expect(events).toMatchObject([{ type: 'image_generation.completed', b64_json: picture }]);
  });

  test('are edited, from a form as from JSON', async () => {
    answers([image]);
    const file = await toFile(Buffer.from('another'), 'cat.png', { type: 'application/octet-stream' });
    const parts = [
      { inlineData: { mimeType: 'image/png', data: Buffer.from('another').toString('base64') } },
      { text: 'Add a hat' },
    ];
    await client.images.edit({ model: painter, image: [file], prompt: 'Add a hat' });
    expect(sent().contents).toEqual([{ role: 'user', parts }]);
    expect(upstream.seen[0]?.headers['content-type']).toBe('application/json');
    upstream.seen.length = 0;
    const reply = await gateway.fetch('/images/edits', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: painter,
        prompt: 'Add a hat',
        images: [{ image_url: `data:image/png;base64,${Buffer.from('another').toString('base64')}` }],
      }),
    });
    expect(await reply.json()).toMatchObject({ data: [{ b64_json: picture }] });
    expect(sent().contents).toEqual([{ role: 'user', parts }]);
  });

  test('are made by Imagen, several at a time', async () => {
    upstream.answer(
      strictGemini(({ model, verb }, response) => {
        expect([model, verb]).toEqual(['imagen-4.0-generate-001', 'predict']);
        json(response, { predictions: [1, 2].map(() => ({ mimeType: 'image/jpeg', bytesBase64Encoded: picture })) });
      }),
    );
    const { data, response } = await client.images
      .generate({ model: 'dall-e-3', prompt: 'A cat', n: 2, size: '1792x1024' })
      .withResponse();
    expect(data).toMatchObject({ data: [{ b64_json: picture }, { b64_json: picture }], output_format: 'jpeg' });
    expect(sent()).toEqual({ instances: [{ prompt: 'A cat' }], parameters: { sampleCount: 2, aspectRatio: '16:9' } });
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ usage: { images: 2 }, usageCertainty: 'reported' });
  });

  test.each<[string, Partial<OpenAI.ImageGenerateParams>, string]>([
    ['more than one at a time', { n: 2 }, 'n'],
    ['links to them', { response_format: 'url' }, 'response_format'],
    ['an odd size', { size: 'large' as '256x256' }, 'size'],
  ])('are refused where the model cannot make %s', async (_name, more, param) => {
    const asked = client.images.generate({ model: painter, prompt: 'A cat', ...more });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'invalid_value', param });
    expect(upstream.seen).toEqual([]);
  });

  test('are refused where a mask would be ignored', async () => {
    const file = await toFile(Buffer.from('another'), 'cat.png');
    const asked = client.images.edit({ model: painter, image: file, mask: file, prompt: 'Add a hat' });
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'mask' });
  });

  test.each([
    [
      'filters',
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata },
      'moderation_blocked',
      'PROHIBITED',
    ],
    [
      'answers in words',
      generated([{ text: 'I cannot draw.' }], { finishReason: 'STOP', usageMetadata }),
      null,
      'I cannot draw',
    ],
  ])('that the model %s are an error, and paid once', async (_name, answer, code, said) => {
    upstream.answer(strictGemini((_call, response) => json(response, answer)));
    const asked = client.images.generate({ model: painter, prompt: 'A cat' });
    await expect(asked).rejects.toMatchObject({ status: 400, code, message: expect.stringContaining(said) });
    expect(upstream.seen.length).toBe(1);
  });

  test('a refusal by Google is told in OpenAI’s words', async () => {
    upstream.answer((_request, response) => sendGoogleError(response, 400, 'INVALID_ARGUMENT', 'Bad ratio'));
    const asked = client.images.generate({ model: painter, prompt: 'A cat' });
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringContaining('Bad ratio') });
  });
});

describe('speech', () => {
  const speak = (more: Partial<OpenAI.Audio.SpeechCreateParams> = {}) =>
    client.audio.speech.create({ model: speaker, input: 'Hello', voice: 'Puck', ...more });

  test('is a WAV file', async () => {
    answers([sound]);
    const response = await speak({ response_format: 'wav', instructions: 'Whisper' });
    expect(response.headers.get('content-type')).toBe('audio/wav');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(24)]).toEqual(['RIFF', 24_000]);
    expect(bytes.subarray(44)).toEqual(samples);
    expect(sent()).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Whisper:\nHello' }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } },
      },
    });
  });

  test('is samples alone, in the voice that the provider has', async () => {
    answers([sound]);
    const response = await speak({ response_format: 'pcm', voice: 'alloy' });
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(samples);
    expect(response.headers.get('x-sluice-emulated')).toBe('voice;why=no-equal');
  });

  test('is WAV where no format is asked for, and that is told', async () => {
    answers([sound]);
    const response = await speak();
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(response.headers.get('x-sluice-emulated')).toBe('response_format;why=no-equal');
  });

  test('is refused in a format that the provider cannot make, naming those it can', async () => {
    const message = expect.stringContaining('wav or pcm');
    await expect(speak({ response_format: 'mp3' })).rejects.toMatchObject({ status: 400, message });
    await expect(speak({ stream_format: 'sse' })).rejects.toMatchObject({ status: 400, param: 'stream_format' });
    expect(upstream.seen).toEqual([]);
  });
});

describe('a transcript', () => {
  const file = () => toFile(Buffer.from('a recording'), 'talk.mp3', { type: 'application/octet-stream' });

  test('is JSON, with what it cost', async () => {
    answers([{ text: ' Hello there \n' }]);
    const { data, response } = await client.audio.transcriptions
      .create({ model: listener, file: await file(), language: 'en', prompt: 'Sluice', temperature: 0 })
      .withResponse();
    expect(data).toEqual({
      text: 'Hello there',
      usage: { type: 'tokens', input_tokens: 30, output_tokens: 9, total_tokens: 39 },
    });
    expect(sent()).toMatchObject({
      contents: [
        {
          parts: [
            { inlineData: { mimeType: 'audio/mp3', data: Buffer.from('a recording').toString('base64') } },
            { text: expect.stringMatching(/word for word.*"en".*Sluice/) },
          ],
        },
      ],
      generationConfig: { temperature: 0 },
    });
    expect(response.headers.get('x-sluice-emulated')).toBe('language;why=in-prompt, prompt;why=in-prompt');
  });

  test('is plain text', async () => {
    answers([{ text: 'Hello there' }]);
    const asked = { model: listener, file: await file(), response_format: 'text' as const };
    const { data, response } = await client.audio.transcriptions.create(asked).withResponse();
    expect([data, response.headers.get('content-type')]).toEqual(['Hello there\n', 'text/plain; charset=utf-8']);
  });

  test('is streamed', async () => {
    answers([{ text: 'Hello there' }]);
    const types: string[] = [];
    const stream = await client.audio.transcriptions.create({ model: listener, file: await file(), stream: true });
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
  });

  test('is a translation into English', async () => {
    answers([{ text: 'Hello there' }]);
    const { text } = await client.audio.translations.create({ model: listener, file: await file() });
    expect(text).toBe('Hello there');
    expect(JSON.stringify(sent())).toContain('into English');
  });

  test('is empty if nothing is said, and an error if the model filters it', async () => {
    const transcribe = async () => client.audio.transcriptions.create({ model: listener, file: await file() });
    answers([]);
    expect(await transcribe()).toMatchObject({ text: '' });
    answers([], { finishReason: 'RECITATION', usageMetadata });
    await expect(transcribe()).rejects.toMatchObject({ status: 400, code: 'moderation_blocked' });
  });

  test('is refused if timestamps are requested', async () => {
    const asked = client.audio.transcriptions.create({ model: listener, file: await file(), response_format: 'srt' });
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringContaining('json or text') });
  });

  test('is not made of a file that is too large for the provider', async () => {
    const large = await toFile(Buffer.alloc(21_000_000), 'talk.wav');
    const asked = client.audio.transcriptions.create({ model: listener, file: large });
    await expect(asked).rejects.toMatchObject({ status: 413 });
    expect(upstream.seen).toEqual([]);
  });

  test('is read from an upload that was spooled to disk', async () => {
    answers([{ text: 'Hello there' }]);
    const recording = Buffer.from(Array.from({ length: 600_000 }, (_, index) => index % 251));
    await client.audio.transcriptions.create({ model: listener, file: await toFile(recording, 'talk.wav') });
    const [{ parts }] = sent().contents as [{ parts: [{ inlineData: { mimeType: string; data: string } }] }];
    expect(parts[0].inlineData.mimeType).toBe('audio/wav');
    expect(Buffer.from(parts[0].inlineData.data, 'base64').equals(recording)).toBe(true);
  });
});

test('losses are refused where the client asks for that', async () => {
  const headers = { 'x-sluice-lossy': 'refuse' };
  const asked = client.images.generate({ model: painter, prompt: 'A cat', quality: 'high' }, { headers });
  await expect(asked).rejects.toMatchObject({ status: 400, param: 'quality' });
});

test('Imagen is not asked to edit images', async () => {
  const file = await toFile(Buffer.from('another'), 'cat.png');
  const asked = client.images.edit({ model: 'imagen-4.0-generate-001', image: file, prompt: 'Add a hat' });
  await expect(asked).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
});
