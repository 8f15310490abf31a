/** Every answer has an id of its own, also of providers whose answers have none, and a length if it is whole. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { answerWith, bedrockKey, converseFramesOf, sendFrames } from '../../support/strict-bedrock.ts';
import { bodyOf, completion, dataLine, sendStream, streamOf } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** Which id the next answer of Bedrock has in its headers. */
let requestId: string | null = null;

beforeAll(async () => {
  upstream = await startUpstream(({ url, body, ...more }, response) => {
    if (requestId !== null) response.setHeader('x-amzn-requestid', requestId);
    if (url.endsWith('/converse-stream')) sendFrames(response, converseFramesOf([{ text: 'Hello' }]));
    else if (url.endsWith('/converse')) json(response, answerWith([{ text: 'Hello' }]));
    else if (url.startsWith('/v1beta')) sendGemini(response, url.includes('stream'));
    else sendChat(response, bodyOf({ url, body, ...more }).stream === true);
  });
  const provider = (id: string, more: object) => ({
    ...mainProvider(upstream.origin),
    id,
    models: [id],
    credentials: [{ id: 'c1' }],
    ...more,
  });
  gateway = await startGateway({
    config: {
      providers: [
        provider('amazon.nova-pro-v1:0', { id: 'converse', dialect: 'bedrock' }),
        provider('gemini-3-pro', { id: 'gemini', dialect: 'gemini', baseUrl: `${upstream.origin}/v1beta` }),
        provider('glm-5', { id: 'chat', baseUrl: upstream.baseUrl, serves: ['chat'] }),
      ],
    },
    secrets: {
      'provider/converse/c1': bedrockKey,
      'provider/gemini/c1': 'key',
      'provider/chat/c1': 'key',
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

function sendGemini(response: ServerResponse, isStream: boolean): void {
  const content = { role: 'model', parts: [{ text: 'Hello' }] };
  const answer = { candidates: [{ content, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1 } };
  if (isStream) sendStream(response, dataLine(answer));
  else json(response, answer);
}

/** Some services send an empty id, others none. */
function sendChat(response: ServerResponse, isStream: boolean): void {
  const { id: _, ...whole } = completion({ content: 'Hello' });
  if (isStream) sendStream(response, streamOf([{ content: 'Hello' }]).replaceAll('"id":"chatcmpl-1"', '"id":""'));
  else json(response, whole);
}

const models = { converse: 'amazon.nova-pro-v1:0', gemini: 'gemini-3-pro', chat: 'glm-5' };
const hello = [{ role: 'user', content: 'Hi' }];
const clients: Record<string, (model: string, stream: boolean) => [path: string, body: object]> = {
  chat: (model, stream) => ['/v1/chat/completions', { model, stream, messages: hello }],
  messages: (model, stream) => ['/v1/messages', { model, stream, max_tokens: 9, messages: hello }],
  responses: (model, stream) => ['/v1/responses', { model, stream, input: 'Hi', store: false }],
  gemini: (model, stream) => [
    `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
};

/** The id of an answer as its client sees it, without the prefix of its API. */
async function idOf(client: string, model: string, stream: boolean): Promise<string> {
  const [path, body] = clients[client]?.(model, stream) ?? ['', {}];
  const headers = { 'content-type': 'application/json', 'x-api-key': testKey };
  const response = await fetch(gateway.origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect(response.headers.get('content-length')).toBe(stream ? null : String(Buffer.byteLength(text)));
  const name = client === 'gemini' ? 'responseId' : 'id';
  const found = new RegExp(`"${name}": ?"(?:chatcmpl-|msg_|resp_)?([^"]*)"`).exec(text);
  return found?.[1] ?? '';
}

describe.each(Object.entries(models))('of %s', (provider, model) => {
  test.each(Object.keys(clients))(
    'each answer to a client of %s has another id, whole and streamed',
    async (client) => {
      if (client === provider) return;
      requestId = null;
      const asked = [false, false, true, true].map((stream) => idOf(client, model, stream));
      const ids = await Promise.all(asked);
      for (const id of ids) expect(id).toMatch(/^[\w-]{16,}$/);
      expect(new Set(ids).size).toBe(4);
    },
  );
});

test.each(['chat', 'messages', 'gemini'])(
  'a client of %s gets the id by which Amazon knows the answer',
  async (client) => {
    requestId = '0b6e3c4a-1111-4222-8333-944455556666';
    expect(await idOf(client, models.converse, false)).toBe(requestId);
    expect(await idOf(client, models.converse, true)).toBe(requestId);
  },
);
