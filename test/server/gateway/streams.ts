/** Event streams as upstreams send them, byte for byte, with the routes that answer with them. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestFilterInput } from '../../../server/contract/queries.ts';
import { hashOf, mainProvider, type TestGateway, testKey } from '../../support/gateway.ts';
import { fixture } from '../../support/openai-calls.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

// Calls that take as long as those of real models, so that they end in a later batch of the ledger than they begin. On each store:
// whatever is derived from a request must lead back to it.

const answerMs = 2_000;

interface Call {
  id: string;
  number: number;
}

export function describeSlowCalls(start: (config: Partial<ConfigInput>) => Promise<TestGateway>): void {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream(async ({ body }, response) => {
      const number = Number(JSON.parse(body.toString()).model.replace('model-', ''));
      await setTimeout(answerMs);
      if (fails(number)) return json(response, { error: { message: `An ember${number}x fell` } }, 400);
      json(response, completion({ content: 'It lives in the woods.' }));
    });
    gateway = await start({
      providers: [mainProvider(upstream.baseUrl)],
      groups: [{ id: 'default', capture: true }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  async function call(number: number): Promise<Call> {
    const response = await gateway.fetch('/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sluice-session': `session-${number % 4}` },
      body: JSON.stringify({ model: `model-${number}`, messages: [{ role: 'user', content: `animal${number}x` }] }),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(fails(number) ? 400 : 200);
    return { id: response.headers.get('x-sluice-request-id') ?? '', number };
  }

  async function found(filter: RequestFilterInput): Promise<string[]> {
    const { requests } = await gateway.gateway.query({ type: 'requests', filter });
    return requests.map(({ id }) => id);
  }

  async function expectToBeFound({ id, number }: Call): Promise<void> {
    expect(await found({ search: `animal${number}x` }), `text of ${number}`).toEqual([id]);
    expect(await found({ model: `model-${number}` }), `model of ${number}`).toEqual([id]);
    expect(await found({ search: `ember${number}x` }), `error of ${number}`).toEqual(fails(number) ? [id] : []);
    const { request, capture } = await gateway.gateway.query({ type: 'request', id });
    expect(request.id).toBe(id);
    expect(JSON.stringify(capture?.request.body), `capture of ${number}`).toContain(`animal${number}x`);
  }

  /** The sessions, latest first, by their names. */
  async function sessionNames(): Promise<(string | null)[]> {
    const { sessions } = await gateway.gateway.query({ type: 'sessions' });
    return sessions.map(({ name }) => name);
  }

  test('one after another are each found by their own words, model and error', async () => {
    const calls: Call[] = [];
    for (let number = 0; number < 4; number++) calls.push(await call(number));
    for (const each of calls) await expectToBeFound(each);
    expect(await sessionNames()).toEqual(['session-3', 'session-2', 'session-1', 'session-0']);
  });

  test('fifty at once are each found by their own words, model and error', async () => {
    const calls = await Promise.all(Array.from({ length: 50 }, (_, index) => call(100 + index)));
    for (const each of calls) await expectToBeFound(each);
    const ids = new Set(calls.map(({ id }) => id));
    for (const filter of [{ sinceMs: 0 }, { keyId: 'k1' }, { provider: 'main' }]) {
      const all = await found(filter);
      expect(all.filter((id) => ids.has(id))).toHaveLength(50);
    }
    expect(await found({ status: '4xx' })).toHaveLength(calls.filter(({ number }) => fails(number)).length + 1);
    const { requests } = await gateway.gateway.query({ type: 'requests', filter: {} });
    const newest = [...new Set(requests.map(({ session }) => session?.id))];
    const { sessions } = await gateway.gateway.query({ type: 'sessions' });
    expect(sessions.map(({ id }) => id)).toEqual(newest);
  });
}

const fails = (number: number) => number % 7 === 3;

/** Inputs for the official client. */
export const input = 'Hi';

export const model = 'gpt-x';

export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export interface StreamSample {
  name: string;
  /** Below `/v1`. */
  path: string;
  /** The request without `stream: true`. It is a form if `form` is set. */
  body: Record<string, unknown>;
  form?: true;
  bytes: Buffer;
}

export function chunk(delta: object, finish: string | null = null, more: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-x',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...more,
  };
}

export const chatUsage = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

/** A chat stream for which usage was requested, and the same stream without usage. */
export const chatWithUsage = fixture('openai-chat/with-usage.sse').toString();
export const chatWithoutUsage = fixture('openai-chat/without-usage.sse').toString();

export function responseObject(status: string, more: object = {}) {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    error: null,
    model: 'gpt-x',
    output: [],
    ...more,
  };
}

export const responsesUsage = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 16,
};

/** The events of a typed stream, parsed. */
function eventsOf(name: string): { type: string }[] {
  const lines = fixture(name).toString().split('\n');
  return lines.filter((line) => line.startsWith('data: ')).map((line) => JSON.parse(line.slice('data: '.length)));
}

export const responsesEvents = eventsOf('openai-responses/message.sse');

const chat = { path: '/chat/completions', body: { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] } };
const asked = { ...chat, body: { ...chat.body, stream_options: { include_usage: true } } };
const responses = { path: '/responses', body: { model: 'gpt-x', input: 'Hi' } };

/** Small enough to be cut at every byte. */
export const samples: StreamSample[] = [
  { ...asked, name: 'chat with usage', bytes: fixture('openai-chat/with-usage.sse') },
  {
    ...chat,
    name: 'chat with tools, reasoning and the first chunk of Azure',
    bytes: fixture('openai-chat/tools-and-reasoning.sse'),
  },
  { ...chat, name: 'chat with CRLF and several lines of data', bytes: fixture('openai-chat/crlf-and-lines.sse') },
  {
    ...chat,
    name: 'chat with comments, ids, no space after the colon and no last blank line',
    bytes: fixture('openai-chat/comments-and-ids.sse'),
  },
  {
    path: '/completions',
    body: { model: 'gpt-x', prompt: 'Once', stream_options: { include_usage: true } },
    name: 'completions',
    bytes: fixture('openai-completions/with-usage.sse'),
  },
  { ...responses, name: 'responses in full order', bytes: fixture('openai-responses/message.sse') },
  { ...responses, name: 'responses with [DONE]', bytes: fixture('openai-responses/crlf-and-done.sse') },
  {
    path: '/images/generations',
    body: { prompt: 'A cat', model: 'gpt-x' },
    name: 'images',
    bytes: fixture('openai-images/generation.sse'),
  },
  {
    path: '/images/edits',
    body: { prompt: 'A cat', model: 'gpt-x', images: [{ image_url: 'https://example.com/cat.png' }] },
    name: 'image edits',
    bytes: fixture('openai-images/edit.sse'),
  },
  {
    path: '/audio/transcriptions',
    body: { model: 'gpt-x' },
    form: true,
    name: 'transcription without event lines',
    bytes: fixture('openai-transcriptions/text.sse'),
  },
  {
    path: '/audio/speech',
    body: { model: 'gpt-x', input: 'Hi', voice: 'alloy', stream_format: 'sse' },
    name: 'speech',
    bytes: fixture('openai-speech/audio.sse'),
  },
];

export const isUtf8 = 'text/event-stream; charset=utf-8';

/** A request for the sample's stream. */
export function askFor(sample: StreamSample): RequestInit {
  if (!sample.form) {
    return {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...sample.body, stream: true }),
    };
  }
  const form = new FormData();
  form.set('file', new Blob(['RIFF']), 'a.wav');
  for (const [name, value] of Object.entries(sample.body)) form.set(name, String(value));
  form.set('stream', 'true');
  return { method: 'POST', body: form };
}
