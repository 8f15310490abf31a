import { generateKeyPairSync } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { closedPort } from '../../support/ports.ts';
import { bodyOf, message, sendStream, streamOf, text } from '../../support/strict-anthropic.ts';
import { answered, generated, sendEvents } from '../../support/strict-gemini.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const token = 'ya29.test';
const claudeModel = 'claude-opus-4-5@20251101';
const base = '/v1/projects/p1/locations/us-east5';
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let chat: OpenAI;
let claude: Anthropic;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [mainProvider(upstream.origin + base, { dialect: 'vertex', models: ['*'] })],
    },
    secrets: { 'provider/main/c1': token },
  });
  chat = gateway.client;
  claude = new Anthropic({ baseURL: gateway.origin, apiKey: null, authToken: testKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const hello = [{ role: 'user', parts: [{ text: 'Hi' }] }];

async function countByGoogle(model: string, body: object): Promise<unknown> {
  const answer = await fetch(`${gateway.origin}/v1beta/models/${model}:countTokens`, {
    method: 'POST',
    headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.json();
}

const messages = [{ role: 'user' as const, content: 'Hi' }];

describe('Claude on Vertex AI', () => {
  test('answers a client of Anthropic’s API', async () => {
    upstream.answer((_request, response) => json(response, message([text('Hello')])));
    const { content } = await claude.messages.create(
      { model: claudeModel, max_tokens: 9, messages },
      { headers: { 'anthropic-beta': 'oauth-2025-04-20,context-1m-2025-08-07' } },
    );
    expect(content).toMatchObject([{ text: 'Hello' }]);
    const [seen = expect.unreachable()] = upstream.seen;
    expect(seen.url).toBe(`${base}/publishers/anthropic/models/claude-opus-4-5@20251101:rawPredict`);
    expect(seen.headers).toMatchObject({ authorization: `Bearer ${token}`, 'anthropic-beta': 'context-1m-2025-08-07' });
    expect(seen.headers).not.toHaveProperty('anthropic-version');
    expect(bodyOf(seen)).toEqual({ max_tokens: 9, messages, anthropic_version: 'vertex-2023-10-16' });
  });

  test("keeps the whole conversation of the SDK's threads, which only Anthropic itself stores", async () => {
    upstream.answer((_request, response) => json(response, message([text('Hello')])));
    const thread = claude.beta.messages.thread({ model: claudeModel, max_tokens: 9 });
    for (const content of ['My name is Bob.', 'What is my name?']) await thread.send({ role: 'user', content });
    const asked = upstream.seen.map(bodyOf);
    expect(asked).toHaveLength(2);
    for (const body of asked) {
      expect(body).not.toHaveProperty('thread');
      expect(JSON.stringify(body)).toContain('Bob');
    }
  });

  test('streams to a chat client', async () => {
    upstream.answer((_request, response) => sendStream(response, streamOf([text('Hello there')])));
    const stream = await chat.chat.completions.create({ model: claudeModel, messages, stream: true });
    let told = '';
    for await (const { choices } of stream) told += choices[0]?.delta.content ?? '';
    expect(told).toBe('Hello there');
    expect(upstream.seen[0]?.url).toMatch(/:streamRawPredict$/);
    expect(upstream.seen.map(bodyOf)).toMatchObject([{ stream: true, anthropic_version: 'vertex-2023-10-16' }]);
  });

  test('counts tokens for clients of Anthropic’s and Gemini’s API', async () => {
    upstream.answer((_request, response) => json(response, { input_tokens: 1234 }));
    expect(await claude.messages.countTokens({ model: claudeModel, messages })).toEqual({ input_tokens: 1234 });
    expect(await countByGoogle(claudeModel, { contents: hello })).toEqual({ totalTokens: 1234 });
    const path = `${base}/publishers/anthropic/models/count-tokens:rawPredict`;
    expect(upstream.seen.map(({ url }) => url)).toEqual([path, path]);
    const named = { model: claudeModel, anthropic_version: 'vertex-2023-10-16' };
    const [first, second] = upstream.seen.map(bodyOf);
    expect(first).toEqual({ ...named, messages });
    expect(second).toMatchObject({ ...named, messages: [{ role: 'user', content: [{ text: 'Hi' }] }] });
    expect(second).not.toHaveProperty('max_tokens');
  });

  test('has an estimate where its region does not count, and answers on', async () => {
    const said = 'Publisher Model `projects/p1/publishers/anthropic/models/count-tokens` was not found';
    upstream.answer((_request, response) =>
      json(response, { error: { code: 404, message: said, status: 'NOT_FOUND' } }, 404),
    );
    const { data, response } = await claude.messages.countTokens({ model: claudeModel, messages }).withResponse();
    expect(data.input_tokens).toBeGreaterThan(0);
    expect(response.headers.get('x-sluice-estimated')).toBe('input_tokens');
    upstream.answer((_request, answer) => json(answer, message([text('Hello')])));
    expect(await claude.messages.create({ model: claudeModel, max_tokens: 9, messages })).toMatchObject({
      content: [{}],
    });
  });

  test('tells of Google’s errors in Anthropic’s words', async () => {
    const error = { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' };
    upstream.answer((_request, response) => json(response, { error }, 429));
    const failing = claude.messages.create({ model: claudeModel, max_tokens: 9, messages });
    const told = { type: 'error', error: { type: 'rate_limit_error', message: 'Quota exceeded' } };
    await expect(failing).rejects.toMatchObject({ status: 429, error: told });
  });
});

describe('Gemini on Vertex AI', () => {
  test.each([
    ['its own', { contents: hello, systemInstruction: { parts: [{ text: 'Be brief.' }] } }],
    ['AI Studio’s', { generateContentRequest: { model: 'models/x', contents: hello, safetySettings: [] } }],
  ])('counts tokens of a body in %s form', async (_form, body) => {
    upstream.answer((_request, response) => json(response, { totalTokens: 7, totalBillableCharacters: 2 }));
    expect(await countByGoogle('gemini-3-pro', body)).toMatchObject({ totalTokens: 7 });
    const [seen = expect.unreachable()] = upstream.seen;
    expect(seen.url).toBe(`${base}/publishers/google/models/gemini-3-pro:countTokens`);
    const { systemInstruction } = body as { systemInstruction?: object };
    expect(bodyOf(seen)).toEqual({ contents: hello, ...(systemInstruction && { systemInstruction }) });
  });

  test('counts tokens for a client of Anthropic’s API', async () => {
    upstream.answer((_request, response) => json(response, { totalTokens: 7 }));
    const { data, response } = await claude.messages.countTokens({ model: 'gemini-3-pro', messages }).withResponse();
    expect(data).toEqual({ input_tokens: 7 });
    expect(response.headers.get('x-sluice-estimated')).toBeNull();
    expect(upstream.seen.map(bodyOf)).toEqual([{ contents: hello }]);
  });

  test('answers a chat client', async () => {
    upstream.answer((_request, response) => json(response, answered([{ text: 'Hello' }])));
    const { choices } = await chat.chat.completions.create({ model: 'gemini-3-pro', messages });
    expect(choices[0]?.message.content).toBe('Hello');
    expect(upstream.seen[0]?.url).toBe(`${base}/publishers/google/models/gemini-3-pro:generateContent`);
  });

  test('streams to a client of Gemini’s API, bytes as they are', async () => {
    upstream.answer((_request, response) =>
      sendEvents(response, [generated([{ text: 'Hel' }]), answered([{ text: 'lo' }])]),
    );
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] });
    const answer = await fetch(`${gateway.origin}/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse`, {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
      body,
    });
    expect(await answer.text()).toContain('Hel');
    const [seen = expect.unreachable()] = upstream.seen;
    expect(seen.url).toBe(`${base}/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse`);
    expect(seen.body.toString()).toBe(body);
  });
});

test('a service account whose file is damaged is a refused credential', async () => {
  const broken = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [mainProvider(upstream.origin + base, { dialect: 'vertex', models: ['*'] })],
    },
    secrets: { 'provider/main/c1': '{"type":"service_account"}' },
  });
  const failing = broken.client.chat.completions.create({ model: 'gemini-3-pro', messages });
  await expect(failing).rejects.toMatchObject({ status: 502, code: 'provider_credential_refused' });
  expect(upstream.seen).toEqual([]);
  await broken.stop();
});

test('a failure to reach the token service does not count as a refused credential', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    type: 'service_account',
    client_email: 'sluice@p1.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
  const proxy = `http://127.0.0.1:${await closedPort()}`;
  const offline = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [mainProvider('https://vertex.example/v1', { dialect: 'vertex', models: ['*'], proxy })],
    },
    secrets: { 'provider/main/c1': JSON.stringify(account) },
  });
  const response = await offline.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gemini-3-pro', messages }),
  });
  expect(await response.json()).toMatchObject({ error: { code: 'upstream_unreachable' } });
  expect((await offline.record()).attempts).toMatchObject([{ failure: 'transient' }]);
  await offline.stop();
});
