/** Every route of the official clients through three replicas behind the nginx of `build/deploy`. */
import type { ServerResponse } from 'node:http';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashOf, mainProvider, type TestGateway, testKey } from '../../support/gateway.ts';
import { hasNginx, type Nginx, startNginx } from '../../support/nginx.ts';
import { answerTo, calls, type OpenAiCall } from '../../support/openai-calls.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { startReplica } from '../../support/replica.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import {
  json,
  oddCuts,
  type ScriptedUpstream,
  type SeenRequest,
  sendPieces,
  startUpstream,
} from '../../support/upstream.ts';

/**
 * The thirteen routes that reach a provider, as the official OpenAI client calls them. The answers are in
 * openai-calls.ts.
 */

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

const sdkCalls: readonly SdkCall[] = [
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

const count = 3;

describe.runIf(hasPostgres() && hasNginx())('through three replicas behind nginx', () => {
  const server = startPostgresInSuite();
  let upstream: ScriptedUpstream;
  let nginx: Nginx;
  const replicas: TestGateway[] = [];
  /** The number of requests that each replica has answered. */
  const answered = Array.from({ length: count }, () => 0);
  /** The gateway as all clients see it. */
  let gateway: TestGateway;
  let client: OpenAI;
  beforeAll(async () => {
    upstream = await startUpstream(answer);
    const url = await server.createDatabase();
    const initial = {
      version: 1 as const,
      providers: [mainProvider(upstream.baseUrl, { credentials: [] })],
      groups: [{ id: 'default' }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    };
    for (const index of answered.keys()) {
      const logRequest = () => {
        answered[index] = (answered[index] ?? 0) + 1;
      };
      replicas.push(await startReplica({ url, initial, ports: () => ({ logRequest }) }));
    }
    nginx = await startNginx(replicas.map(({ origin }) => new URL(origin).host));
    const [first] = replicas;
    if (!first) throw new Error('there is no replica');
    gateway = { ...first, origin: nginx.origin };
    client = first.client.withOptions({ baseURL: `${nginx.origin}/v1` });
  });
  afterAll(async () => {
    await nginx?.stop();
    for (const replica of replicas) await replica.stop();
    await upstream?.stop();
  });

  test('no route is left out', () => {
    expect(sdkCalls.map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
  });

  test.each(sdkCalls)('$name is answered as the provider answers', async ({ name, call }) => {
    const wanted = expectedOf(calls.find((each) => each.name === name));
    const { id } = (await replicas[0]?.client.videos.create({ model: 'sora-2', prompt: 'A cat' })) ?? { id: '' };
    for (let round = 0; round < count; round++) expect(await call(client, id)).toMatchObject(wanted);
  });

  test('a message of Anthropic’s client, whole and as a stream', async () => {
    const claude = claudeAt(gateway);
    const asked = { model: 'gpt-x', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
    for (let round = 0; round < count; round++) {
      const whole = await claude.messages.create(asked);
      const streamed = await claude.messages.stream(asked).finalMessage();
      expect(textOf(whole.content)).toMatch(/\w/);
      expect(textOf(streamed.content)).toMatch(/\w/);
      expect((await claude.messages.countTokens(asked)).input_tokens).toBeGreaterThan(0);
    }
  });

  test('content of Gemini’s client, whole and as a stream', async () => {
    const { models } = geminiAt(gateway);
    for (let round = 0; round < count; round++) {
      expect((await models.generateContent({ model: 'gpt-x', contents: 'Hi' })).text).toMatch(/\w/);
      let text = '';
      for await (const part of await models.generateContentStream({ model: 'gpt-x', contents: 'Hi' }))
        text += part.text ?? '';
      expect(text).toMatch(/\w/);
    }
  });

  test('each of them has had its part', () => {
    // nginx alternates between the replicas, but skips one that is still busy with a stream.
    for (const number of answered) expect(number).toBeGreaterThan(sdkCalls.length / 2);
  });

  test('the models', async () => {
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['gpt-x']);
    expect((await client.models.retrieve('gpt-x')).id).toBe('gpt-x');
  });
});

const textOf = (content: { type: string }[]) => content.map((block) => ('text' in block ? block.text : '')).join('');

function answer(request: SeenRequest, response: ServerResponse): void {
  const found = answerTo(request, request.url.replace(/^\/v1/, ''));
  if (!found) {
    json(response, { error: { message: `${request.method} ${request.url}` } }, 404);
    return;
  }
  response.writeHead(200, { 'content-type': found.contentType });
  void sendPieces(response, found.bytes, found.events ? oddCuts(found.bytes.length) : []);
}

/** The result that the client returns: the object, the list of events, or the bytes. */
function expectedOf(call: OpenAiCall | undefined): object {
  if (!call) throw new Error('there is no such call');
  const { answer: whole, kind, name } = call;
  if (kind === 'json') return JSON.parse(whole.bytes.toString());
  if (kind === 'binary' || name.startsWith('audio/speech')) return whole.bytes;
  const data = (whole.events ?? []).flatMap((event) => event.match(/^data: (.*)$/m)?.[1] ?? []);
  return data.filter((each) => each !== '[DONE]').map((each) => JSON.parse(each));
}
