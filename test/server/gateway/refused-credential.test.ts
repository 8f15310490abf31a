/** A credential that a provider refuses is asked rarely, whatever the API, route or client; a valid one is used at once. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { testKey } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, startControlGateway } from '../control/control-gateway.ts';

type Script = (request: SeenRequest, response: ServerResponse) => void;

const refuse: Script = (_, response) =>
  json(
    response,
    { error: { message: 'Incorrect API key', type: 'invalid_request_error', code: 'invalid_api_key' } },
    401,
  );
const completion = {
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
};
/** Takes its time, as real answers do, so that neighbours arrive meanwhile. */
const answer: Script = (_, response) => void setTimeout(() => json(response, completion), 50);

let one: ScriptedUpstream;
let two: ScriptedUpstream;
let sluice: ControlGateway;
let aheadMs = 0;

beforeEach(async () => {
  aheadMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  one = await startUpstream(refuse);
  two = await startUpstream(answer);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sluice.stop();
  await Promise.all([one.stop(), two.stop()]);
});

const message = { role: 'user', content: 'hi' } as const;

/** Every way in that leads to a model, and what goes to the same account without naming one. */
const requests: Record<string, { path: string; body?: object; headers?: Record<string, string> }> = {
  chat: { path: '/v1/chat/completions', body: { model: 'm', messages: [message] } },
  'chat (stream)': { path: '/v1/chat/completions', body: { model: 'm', messages: [message], stream: true } },
  responses: { path: '/v1/responses', body: { model: 'm', input: 'hi' } },
  'responses (stream)': { path: '/v1/responses', body: { model: 'm', input: 'hi', stream: true } },
  embeddings: { path: '/v1/embeddings', body: { model: 'm', input: 'hi' } },
  images: { path: '/v1/images/generations', body: { model: 'm', prompt: 'a cat' } },
  speech: { path: '/v1/audio/speech', body: { model: 'm', input: 'hi', voice: 'alloy' } },
  messages: { path: '/v1/messages', body: { model: 'm', max_tokens: 9, messages: [message] } },
  'messages (stream)': { path: '/v1/messages', body: { model: 'm', max_tokens: 9, messages: [message], stream: true } },
  generateContent: {
    path: '/v1beta/models/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  },
  streamGenerateContent: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  },
  'files (passed through)': { path: '/v1/files' },
};

function send(name: string): Promise<Response> {
  const { path, body } = requests[name] ?? {};
  return fetch(`${sluice.origin}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const provider = (id: string, { baseUrl }: ScriptedUpstream, credentials = ['c1']) => ({
  id,
  baseUrl,
  models: ['m', 'other'],
  credentials: credentials.map((credential) => ({ id: credential })),
});

async function start(providers: ReturnType<typeof provider>[]): Promise<void> {
  const secrets = providers.flatMap(({ id, credentials }) =>
    credentials.map((credential) => [`provider/${id}/${credential.id}`, `s-${id}-${credential.id}`]),
  );
  sluice = await startControlGateway({
    config: { providers, groups: [{ id: 'default', passthrough: 'one' }] },
    secrets: Object.fromEntries(secrets),
  });
}

describe('without another target, after a refusal', () => {
  beforeEach(async () => {
    await start([provider('one', one)]);
    expect((await send('chat')).status).toBe(502);
    one.seen.length = 0;
  });

  test.each(Object.keys(requests))('%s is answered from memory', async (name) => {
    for (let count = 0; count < 3; count++) {
      const response = await send(name);
      const said = await response.text();
      expect(response.status, said).toBe(name.includes('enerateContent') ? 400 : 502);
      expect(said).toContain('It was not asked; the first request after ');
      expect(said).toContain('sluice provider credential one');
      const retryAfter = Number(response.headers.get('retry-after'));
      expect(retryAfter).toBeGreaterThan(0);
      expect(retryAfter).toBeLessThanOrEqual(30);
      if (!name.includes('enerateContent')) expect(response.headers.get('x-should-retry')).toBe('false');
    }
    expect(one.seen).toHaveLength(0);
  });

  test.each(Object.keys(requests))('one request in 30 s asks it, of many %s at the same time', async (name) => {
    aheadMs += 31_000;
    await Promise.all(Array.from({ length: 8 }, () => send(name).then((response) => response.text())));
    expect(one.seen).toHaveLength(1);
    aheadMs += 31_000;
    await Promise.all(Array.from({ length: 8 }, () => send(name).then((response) => response.text())));
    expect(one.seen).toHaveLength(2);
  });

  test.each(['chat', 'files (passed through)'])('an answer to the one that asks (%s) ends it for all', async (name) => {
    one.answer(answer);
    aheadMs += 31_000;
    expect((await send(name)).status).toBe(200);
    expect((await Promise.all([send('chat'), send('chat'), send('chat')])).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
  });

  test.each([
    ['replaced', { type: 'credential.set', provider: 'one', id: 'c1', secret: 'better' }],
    ['reset', { type: 'provider.reset-health', id: 'one' }],
  ] as const)('it is asked at once when %s', async (_, command) => {
    one.answer(answer);
    expect((await send('chat')).status).toBe(502);
    await sluice.gateway.execute(command);
    expect((await send('chat')).status).toBe(200);
  });

  test('the SDKs of the three APIs raise an error at once, and the provider is not asked', async () => {
    const openai = sluice.client.withOptions({ maxRetries: 2 });
    const begunMs = Date.now();
    await expect(openai.chat.completions.create({ model: 'm', messages: [message] })).rejects.toMatchObject({
      status: 502,
      code: 'provider_credential_refused',
    });
    const claude = claudeAt(sluice).withOptions({ maxRetries: 2 });
    await expect(claude.messages.create({ model: 'm', max_tokens: 9, messages: [message] })).rejects.toMatchObject({
      status: 502,
    });
    await expect(geminiAt(sluice).models.generateContent({ model: 'm', contents: 'hi' })).rejects.toMatchObject({
      status: 400,
    });
    expect(one.seen).toHaveLength(0);
    expect(Date.now() - begunMs).toBeLessThan(5_000);
  });

  test('a request without credential at a provider that wants one is answered from memory too', async () => {
    await sluice.gateway.execute({ type: 'credential.remove', provider: 'one', id: 'c1' });
    expect((await send('chat')).status).toBe(502);
    one.seen.length = 0;
    const response = await send('messages');
    expect(await response.text()).toContain('requires a credential and has none. Set one');
    expect(one.seen).toHaveLength(0);
  });
});

describe('with another target', () => {
  const firstPaths = () => one.seen.map(({ url }) => url);

  test('a refused credential is tried by one request in five minutes, and used again once it works', async () => {
    await start([provider('one', one), provider('two', two)]);
    for (let count = 0; count < 5; count++) expect((await send('chat')).status).toBe(200);
    expect(one.seen).toHaveLength(1);
    aheadMs += 4 * 60_000;
    expect((await send('chat')).status).toBe(200);
    expect(one.seen).toHaveLength(1);
    aheadMs += 61_000;
    const together = await Promise.all(Array.from({ length: 8 }, () => send('chat')));
    expect(together.every(({ status }) => status === 200)).toBe(true);
    expect(one.seen).toHaveLength(2);
    one.answer(answer);
    two.seen.length = 0;
    aheadMs += 5 * 60_000;
    for (let count = 0; count < 3; count++) await send('chat');
    expect(firstPaths()).toHaveLength(5);
    expect(two.seen).toHaveLength(0);
  });

  test('another credential of the same provider is another target', async () => {
    one.answer((request, response) =>
      request.headers.authorization === 'Bearer s-one-c1' ? refuse(request, response) : answer(request, response),
    );
    await start([provider('one', one, ['c1', 'c2'])]);
    const bad = () => one.seen.filter(({ headers }) => headers.authorization === 'Bearer s-one-c1').length;
    for (let count = 0; count < 6; count++) expect((await send('chat')).status).toBe(200);
    expect(bad()).toBe(1);
    aheadMs += 5 * 60_000;
    for (let count = 0; count < 6; count++) expect((await send('chat')).status).toBe(200);
    expect(bad()).toBe(2);
  });

  test('a purchase never tries it', async () => {
    await start([provider('one', one), provider('two', two)]);
    await send('chat');
    expect(one.seen).toHaveLength(1);
    aheadMs += 5 * 60_000;
    for (let count = 0; count < 3; count++) await send('images');
    expect(one.seen).toHaveLength(1);
    expect(two.seen.filter(({ url }) => url.includes('images'))).toHaveLength(3);
  });

  test('two refused ones are each asked once in 30 s', async () => {
    two.answer(refuse);
    await start([provider('one', one), provider('two', two)]);
    for (let count = 0; count < 10; count++) expect((await send('chat')).status).toBe(502);
    expect([one.seen.length, two.seen.length]).toEqual([1, 1]);
  });
});
