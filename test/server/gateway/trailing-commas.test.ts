/** Commas before closing brackets, as Google's parser takes them and its examples have them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  const content = { role: 'model', parts: [{ text: 'Hi' }] };
  const message = { role: 'assistant', content: 'Hi' };
  upstream = await startUpstream(({ url }, response) =>
    url.includes('generateContent')
      ? json(response, { candidates: [{ content, finishReason: 'STOP' }] })
      : json(response, { id: 'c', choices: [{ index: 0, finish_reason: 'stop', message }] }),
  );
  gateway = await startGateway({
    config: {
      providers: [
        mainProvider(upstream.origin, { id: 'google', dialect: 'gemini', models: ['gemini-x'] }),
        mainProvider(upstream.baseUrl, { id: 'chats', models: ['gpt-x'], serves: ['chat'] }),
      ],
    },
    secrets: { 'provider/google/c1': 'x', 'provider/chats/c1': 'x' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const ask = (path: string, body: string) =>
  fetch(gateway.origin + path, { method: 'POST', headers: { 'x-goog-api-key': testKey }, body });

const text = 'What is "a,]" or "b,}" or \\"?';
const loose = `{
  "contents": [
    {"role":"user", "parts":[{"text": ${JSON.stringify(text)},}, ],},
  ],
  "generationConfig": { "stopSequences": ["x",], "temperature": 0.5 , },
}`;
const long = loose.replace('What', 'What '.repeat(500_000));

test.each([
  ['short', loose],
  ['long', long],
])('a %s body passes to a provider of Gemini’s API as it came', async (_length, body) => {
  const response = await ask('/v1beta/models/gemini-x:generateContent', body);
  expect([response.status, upstream.seen[0]?.body.toString() === body]).toEqual([200, true]);
});

test.each([
  ['short', loose],
  ['long', long],
])('a %s body is translated without them, and every text as it is', async (_length, body) => {
  expect((await ask('/v1beta/models/gpt-x:generateContent', body)).status).toBe(200);
  const sent = JSON.parse(String(upstream.seen[0]?.body));
  expect(sent).toMatchObject({ stop: ['x'] });
  expect(JSON.stringify(sent.messages)).toContain(JSON.stringify(text.slice('What'.length)).slice(1, -1));
});

test.each(['{"contents":[,]}', '{"contents":[{},,]}', '{,}', '{"contents":,}', '{"contents":[]'])(
  'other faults are told: %s',
  async (body) => {
    const response = await ask('/v1beta/models/gemini-x:generateContent', body);
    expect([response.status, (await response.json()).error.status]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(upstream.seen).toEqual([]);
  },
);

test('other APIs take none', async () => {
  const body = '{"model":"gpt-x","messages":[{"role":"user","content":"Hi",}]}';
  const response = await gateway.fetch('/chat/completions', { method: 'POST', body });
  expect(response.status).toBe(400);
});
