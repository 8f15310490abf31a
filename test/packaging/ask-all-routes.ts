/** Calls each of the thirteen routes once, with the official client, at the built-in demo. */
import OpenAI, { toFile } from 'openai';
import { expect } from 'vitest';
import { expectPng } from '../e2e/expect-png.ts';

/** Rejects at the first wrong answer; returns the routes that answered. */
export async function askAllRoutes(baseUrl: string, key: string): Promise<string[]> {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 });
  const groups = [askForText, askForImages, askForSound, askForVideos];
  const answered: string[] = [];
  for (const ask of groups) answered.push(...(await ask(client)));
  return answered;
}

async function askForText(client: OpenAI): Promise<string[]> {
  const { data } = await client.models.list();
  expect(data.map(({ id }) => id)).toContain('demo-chat');
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const chat = await client.chat.completions.create({ model: 'demo-chat', messages });
  expect(chat.choices[0]?.message.content).not.toBe('');
  const response = await client.responses.create({ model: 'demo-chat', input: 'Hello' });
  expect(response.output_text).not.toBe('');
  const embeddings = await client.embeddings.create({ model: 'demo-embedding', input: 'Hello' });
  expect(embeddings.data[0]?.embedding.length).toBeGreaterThan(0);
  return ['models', 'chat/completions', 'responses', 'embeddings'];
}

async function askForImages(client: OpenAI): Promise<string[]> {
  const request = { model: 'demo-image', prompt: 'A hill', size: '256x256' as const };
  const drawn = pngOf(await client.images.generate(request));
  expectPng(drawn, 256);
  const image = await toFile(drawn, 'hill.png', { type: 'image/png' });
  expectPng(pngOf(await client.images.edit({ ...request, image })), 256);
  return ['images/generations', 'images/edits'];
}

function pngOf({ data }: OpenAI.ImagesResponse): Buffer {
  return Buffer.from(data?.[0]?.b64_json ?? '', 'base64');
}

async function askForSound(client: OpenAI): Promise<string[]> {
  const speech = { model: 'demo-speech', voice: 'alloy', input: 'Good morning', response_format: 'wav' } as const;
  const wav = await (await client.audio.speech.create(speech)).arrayBuffer();
  const listen = async () => ({ model: 'demo-transcribe', file: await toFile(wav, 'speech.wav') });
  expect((await client.audio.transcriptions.create(await listen())).text).not.toBe('');
  expect((await client.audio.translations.create(await listen())).text).not.toBe('');
  return ['audio/speech', 'audio/transcriptions', 'audio/translations'];
}

async function askForVideos(client: OpenAI): Promise<string[]> {
  const { id } = await client.videos.create({ model: 'demo-video', prompt: 'A ball', seconds: '4' });
  await expect.poll(async () => (await client.videos.retrieve(id)).status, { timeout: 15_000 }).toBe('completed');
  const film = Buffer.from(await (await client.videos.downloadContent(id)).arrayBuffer());
  expect(film.toString('latin1', 4, 8)).toBe('ftyp');
  expect((await client.videos.remix(id, { prompt: 'Rain' })).remixed_from_video_id).toBe(id);
  return ['videos', 'videos/:id', 'videos/:id/content', 'videos/:id/remix'];
}
