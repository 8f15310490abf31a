/** A gateway whose only model has two providers, `one` before `two`, each with a scripted upstream. */

import type { z } from 'zod';
import type { cacheSchema } from '../../../server/contract/answer-cache.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { stretched } from '../../support/cpu-work.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream, writePieces } from '../../support/upstream.ts';
import { chunk } from './streams.ts';

// Answers of the upstreams in the fallback tests, and the requests to them.

export const plain = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"model":"gpt-x","messages":[]}',
};

export const errorOf = (code: string | null, more: object = {}) => ({
  error: { message: `because of ${code}`, type: 'some_error', param: null, code, ...more },
});

const silenceMs = stretched(400);
export const policy = {
  retries: 1,
  fallbacks: 1,
  timeouts: { firstByteMs: silenceMs, firstContentMs: silenceMs, idleMs: silenceMs },
};

/** The answer of the second upstream. */
export const good = { id: 'x', object: 'chat.completion', model: 'model-of-two', choices: [] };

export async function startFallback(): Promise<TwoUpstreams> {
  const both = await startTwo(policy);
  both.two.answer((_request, response) => json(response, good));
  return both;
}

/** Resolves with the answer and its record in the ledger. */
export async function ask({ gateway }: TwoUpstreams, init: RequestInit = plain, path = '/chat/completions') {
  const response = await gateway.fetch(path, init);
  const text = await response.text();
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  return { response, text, record };
}

// A gateway with one scripted provider, whose groups answer equal requests from memory.

type CacheInput = z.input<typeof cacheSchema>;

export const question = { model: 'gpt-x', temperature: 0, messages: [{ role: 'user', content: 'Why?' }] };
export const keyOne = { id: 'k1', group: 'default', hash: hashOf(testKey) };

let answers = 0;

/** Every completion is different, and costs a dollar. */
export function completion() {
  const message = { role: 'assistant', content: `answer ${++answers}` };
  return {
    id: `c${answers}`,
    object: 'chat.completion',
    model: 'gpt-x',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 500, completion_tokens: 500, total_tokens: 1000 },
  };
}

export function startCompletions(): Promise<ScriptedUpstream> {
  return startUpstream((_request, response) => json(response, completion()));
}

/** Starts a gateway with the groups `default` (keys `testKey` and `second`) and `other` (key `third`). */
export function startCached(
  { baseUrl }: ScriptedUpstream,
  cache: CacheInput | null = {},
  more: Partial<ConfigInput> = {},
): Promise<TestGateway> {
  return startGateway({
    config: {
      providers: [mainProvider(baseUrl, { askUsage: false })],
      groups: [
        { id: 'default', cache },
        { id: 'other', cache },
      ],
      keys: [
        keyOne,
        { id: 'k2', group: 'default', hash: hashOf('second') },
        { id: 'k3', group: 'other', hash: hashOf('third') },
      ],
      settings: { prices: { 'gpt-x': { input: 1000, output: 1000 } } },
      ...more,
    },
  });
}

export function askOf(
  sluice: TestGateway,
  body: object,
  headers: Record<string, string> = {},
  path = '/chat/completions',
): Promise<Response> {
  return sluice.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

type GroupInput = NonNullable<ConfigInput['groups']>[number];
type ProviderInput = NonNullable<ConfigInput['providers']>[number];

export interface TwoUpstreams {
  one: ScriptedUpstream;
  two: ScriptedUpstream;
  gateway: TestGateway;
  stop(): Promise<void>;
}

export async function startTwo(
  policy: GroupInput['policy'],
  more: { two?: Partial<ProviderInput>; config?: Partial<ConfigInput> } = {},
): Promise<TwoUpstreams> {
  const one = await startUpstream();
  const two = await startUpstream();
  const credentials = [{ id: 'c1' }];
  const gateway = await startGateway({
    config: {
      providers: [
        { id: 'one', baseUrl: one.baseUrl, credentials, models: ['gpt-x'] },
        { id: 'two', baseUrl: two.baseUrl, credentials, models: ['gpt-x'], ...more.two },
      ],
      groups: [{ id: 'default', policy }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
      ...more.config,
    },
    secrets: { 'provider/one/c1': 'secret-of-one', 'provider/two/c1': 'secret-of-two' },
  });
  return {
    one,
    two,
    gateway,
    async stop() {
      await gateway.stop();
      await one.stop();
      await two.stop();
    },
  };
}

export const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
export const done = 'data: [DONE]\n\n';

/** The chunks of an answer by `who`, one per piece. */
export function answer(who: string, ...pieces: string[]): string[] {
  const named = { id: `chatcmpl-${who}`, model: `model-of-${who}` };
  return [
    data({ ...chunk({ role: 'assistant', content: '' }), ...named }),
    ...pieces.map((content) => data({ ...chunk({ content }), ...named })),
    data({ ...chunk({}, 'stop'), ...named }),
    done,
  ];
}

/** Sends events, and then ends cleanly, breaks the connection, or stalls. */
export function streams(
  upstream: ScriptedUpstream,
  events: readonly string[],
  then: 'ends' | 'breaks' | 'stalls' = 'ends',
) {
  upstream.answer(async (_request, response) => {
    eventStream(response);
    await writePieces(response, Buffer.from(events.join('')), []);
    if (then === 'ends') response.end();
    else if (then === 'breaks') response.destroy();
  });
}

export const chat = (more: object = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'gpt-x', stream: true, messages: [{ role: 'user', content: 'Hi' }], ...more }),
});

/** The parsed chunks of a stream; `[DONE]` stays a string. */
export function chunksOf(text: string) {
  const events = text.split('\n\n').filter((event) => event.startsWith('data:'));
  return events.map((event) => (event === 'data: [DONE]' ? event : JSON.parse(event.slice('data: '.length))));
}

export function textOf(text: string): string {
  return chunksOf(text)
    .map((one) => one.choices?.[0]?.delta?.content ?? '')
    .join('');
}
