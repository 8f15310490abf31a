/**
 * The thirteen routes that reach a provider, as the official OpenAI client calls them. The answers are in
 * openai-calls.ts.
 */
import type OpenAI from 'openai';

interface SdkCall {
  /** As in `openai-calls.ts`. */
  name: string;
  /**
   * `videoId` is a video that was created before. Resolves with the complete answer, the list of a stream's events, or
   * bytes.
   */
  call(client: OpenAI, videoId: string): Promise<unknown>;
}

const model = 'gpt-x';
const messages = [{ role: 'user' as const, content: 'What does a gateway do?' }];
/** For chats and completions. */
const streamed = { stream: true as const, stream_options: { include_usage: true } };
const drawing = { model, prompt: 'A cat' };
const speaking = { model, input: 'Good morning', voice: 'alloy' };
const wav = () => new File([new Uint8Array(3_000)], 'speech.wav', { type: 'audio/wav' });
const png = () => new File([new Uint8Array(2_000)], 'cat.png', { type: 'image/png' });

export const sdkCalls: readonly SdkCall[] = [
  { name: 'chat/completions', call: ({ chat }) => chat.completions.create({ model, messages }) },
  {
    name: 'chat/completions (stream)',
    call: async ({ chat }) => eventsOf(await chat.completions.create({ model, messages, ...streamed })),
  },
  { name: 'completions', call: ({ completions }) => completions.create({ model, prompt: 'Every' }) },
  {
    name: 'completions (stream)',
    call: async ({ completions }) => eventsOf(await completions.create({ model, prompt: 'Every', ...streamed })),
  },
  { name: 'responses', call: ({ responses }) => responses.create({ model, input: 'Hi' }) },
  {
    name: 'responses (stream)',
    call: async ({ responses }) => eventsOf(await responses.create({ model, input: 'Hi', stream: true })),
  },
  {
    name: 'embeddings',
    call: ({ embeddings }) => embeddings.create({ model, input: 'Hi', encoding_format: 'float' }),
  },
  { name: 'images/generations', call: ({ images }) => images.generate(drawing) },
  {
    name: 'images/generations (stream)',
    call: async ({ images }) => eventsOf(await images.generate({ ...drawing, stream: true, partial_images: 2 })),
  },
  { name: 'images/edits', call: ({ images }) => images.edit({ ...drawing, image: png() }) },
  {
    name: 'images/edits (stream)',
    call: async ({ images }) => eventsOf(await images.edit({ ...drawing, image: png(), stream: true })),
  },
  { name: 'audio/transcriptions', call: ({ audio }) => audio.transcriptions.create({ model, file: wav() }) },
  {
    name: 'audio/transcriptions (stream)',
    call: async ({ audio }) => eventsOf(await audio.transcriptions.create({ model, file: wav(), stream: true })),
  },
  { name: 'audio/translations', call: ({ audio }) => audio.translations.create({ model, file: wav() }) },
  { name: 'audio/speech', call: async ({ audio }) => bytesOf(await audio.speech.create(speaking)) },
  {
    name: 'audio/speech (stream)',
    call: async ({ audio }) => bytesOf(await audio.speech.create({ ...speaking, stream_format: 'sse' })),
  },
  { name: 'videos', call: ({ videos }) => videos.create({ model: 'sora-2', prompt: 'A cat', seconds: '4' }) },
  { name: 'videos/:id', call: ({ videos }, id) => videos.retrieve(id) },
  { name: 'videos/:id/content', call: async ({ videos }, id) => bytesOf(await videos.downloadContent(id)) },
  { name: 'videos/:id/remix', call: ({ videos }, id) => videos.remix(id, { prompt: 'Rain' }) },
];

async function eventsOf(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
