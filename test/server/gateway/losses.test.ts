/** What a translation loses: told in headers, recorded, or refused, as group and request want it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion, strictChat } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let chat: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  chat = await startUpstream();
  chat.answer(strictChat((_body, response) => json(response, completion({ content: 'Hello' }))));
  gateway = await startGateway({
    config: {
      providers: [mainProvider(chat.baseUrl, { models: ['gpt-x'] })],
      groups: [{ id: 'default', policy: { losses: 'refuse' } }],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await chat.stop();
});

const lossy = { model: 'gpt-x', max_tokens: 100, top_k: 5, messages: [{ role: 'user', content: 'Hi' }] };

async function ask(body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.origin}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': testKey, ...headers },
    body: JSON.stringify(body),
  });
  return {
    response,
    body: await response.json(),
    record: await gateway.record(response.headers.get('x-sluice-request-id') ?? ''),
  };
}

test('a group that refuses losses answers with the field and the reason, and asks nobody', async () => {
  const asked = chat.seen.length;
  const { response, body } = await ask(lossy);
  expect(response.status).toBe(400);
  expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  expect(body.error.message).toContain("'top_k' cannot be translated without loss");
  expect(chat.seen.length).toBe(asked);
});

test('a request that only wants to be told overrides its group, and its record says what was lost', async () => {
  const { response, record } = await ask(lossy, { 'x-sluice-lossy': 'tell' });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-dropped')).toBe('top_k;why=no-equal');
  expect(record.dropped).toEqual([{ code: 'no-equal', field: 'top_k', times: 1 }]);
  expect(record.emulated).toEqual([]);
});
