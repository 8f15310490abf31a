/** Losses of a translation: reported in headers, recorded, or refused, depending on group and request. */
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

test('a group that refuses losses answers with the field and the reason, and calls no provider', async () => {
  const asked = chat.seen.length;
  const { response, body } = await ask(lossy);
  expect(response.status).toBe(400);
  expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  expect(body.error.message).toContain("'top_k' cannot be translated without loss");
  expect(chat.seen.length).toBe(asked);
});

test('a request that only wants losses reported overrides its group, and its record contains them', async () => {
  const { response, record } = await ask(lossy, { 'x-sluice-lossy': 'tell' });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-dropped')).toBe('top_k;why=no-equal');
  expect(record.dropped).toEqual([{ code: 'no-equal', field: 'top_k', times: 1 }]);
  expect(record.emulated).toEqual([]);
});

const plain = { model: 'gpt-x', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };

test('a beta of Anthropic’s API that another API does not have is reported, or refused', async () => {
  const betas = { 'anthropic-beta': 'claude-code-20250219, new-kind-of-answer-2026-11-01' };
  const { response, record } = await ask(plain, { ...betas, 'x-sluice-lossy': 'tell' });
  expect(response.headers.get('x-sluice-dropped')).toBe('anthropic-beta:new-kind-of-answer-2026-11-01;why=no-equal');
  expect(record.dropped).toMatchObject([{ field: 'anthropic-beta:new-kind-of-answer-2026-11-01' }]);
  const refused = await ask(plain, betas);
  expect(refused.response.status).toBe(400);
  expect(refused.body.error.message).toContain("'anthropic-beta:new-kind-of-answer-2026-11-01' cannot be translated");
});

test('the betas that Claude Code sends with each request are no losses', async () => {
  const betas = [
    'claude-code-20250219',
    'oauth-2025-04-20',
    'interleaved-thinking-2025-05-14',
    'fine-grained-tool-streaming-2025-05-14',
    'context-management-2025-06-27',
    'context-1m-2025-08-07',
    'advanced-tool-use-2025-11-20',
    'effort-2025-11-24',
    'prompt-caching-scope-2026-01-05',
    'adaptive-thinking-2026-01-28',
  ];
  const { response } = await ask(plain, { 'anthropic-beta': betas.join(',') });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-dropped')).toBeNull();
});
