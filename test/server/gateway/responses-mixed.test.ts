import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { chunk, completion, strictChat } from '../../support/strict-chat.ts';
import { messageWith, responseWith, streamOfResponse } from '../../support/strict-responses.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let chats: ScriptedUpstream;
let responses: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  [chats, responses] = await Promise.all([startUpstream(), startUpstream()]);
  gateway = await startGateway({
    config: {
      providers: [
        { id: 'chats', baseUrl: chats.baseUrl, models: ['m'], serves: ['chat'] },
        { id: 'responses', baseUrl: responses.baseUrl, models: ['m'] },
      ],
      groups: [{ id: 'default', order: [{ provider: 'chats' }, { provider: 'responses', priority: 1 }] }],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([chats.stop(), responses.stop()]);
});
beforeEach(() => {
  for (const { seen } of [chats, responses]) seen.length = 0;
  responses.answer((_request, response) => json(response, responseWith([messageWith('From Responses')])));
});

const hello = { model: 'm', input: 'Hi' };

test('a request that cannot be translated to a chat goes to a provider of the Responses API', async () => {
  chats.answer(strictChat((_body, response) => json(response, completion({ content: 'From a chat' }))));
  expect((await gateway.client.responses.create(hello)).output_text).toBe('From a chat');
  const answer = await gateway.client.responses.create({ ...hello, background: true });
  expect(answer.output_text).toBe('From Responses');
  expect(responses.seen).toHaveLength(1);
});

test('a request that failed as a translated chat reaches the next provider, which serves Responses, byte for byte', async () => {
  chats.answer((_request, response) => json(response, { error: { message: 'down', type: 'server_error' } }, 500));
  const body = JSON.stringify({ ...hello, odd: [1, 2.0] });
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.fetch('/responses', { method: 'POST', headers, body });
  expect(await response.json()).toMatchObject({ id: 'resp_1', object: 'response' });
  expect(responses.seen[0]?.body.toString()).toBe(body);
});

test('a translated stream that breaks is not continued in another API’s format', async () => {
  chats.answer((_request, response) => {
    eventStream(response);
    response.write(chunk({ content: 'Hel' }), () => response.destroy());
  });
  responses.answer((_request, response) => {
    eventStream(response);
    response.end(streamOfResponse(responseWith([messageWith('Hello')])));
  });
  const body = JSON.stringify({ ...hello, stream: true });
  const headers = { 'content-type': 'application/json' };
  const text = await (await gateway.fetch('/responses', { method: 'POST', headers, body })).text();
  expect(text).toMatch(/"delta":"Hel".*event: response\.failed\n/s);
  expect(text).not.toContain('response.completed');
  expect(responses.seen).toEqual([]);
});
