/** What Sluice cuts at the end of the grace period: its clients are told why, and the ledger says that it was Sluice. */
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestRecord } from '../../../server/contract/ledger.ts';
import { begun } from '../../support/begun.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import * as chat from '../../support/strict-chat.ts';
import { eventStream, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let gateway: TestGateway;
let upstream: ScriptedUpstream;
const finished: RequestRecord[] = [];
afterEach(async () => {
  finished.length = 0;
  await gateway.stop();
  await upstream.stop();
});

/** `says`: the upstream begins its answer, and never ends it. */
async function start(says: boolean): Promise<void> {
  upstream = await startUpstream((_request, response) => {
    if (!says) return;
    eventStream(response);
    response.write(chat.chunk({ role: 'assistant', content: 'So far' }));
  });
  const provider: NonNullable<ConfigInput['providers']>[number] = {
    ...{ id: 'main', baseUrl: upstream.baseUrl, models: ['m'], serves: ['chat'] },
  };
  gateway = await startGateway({
    config: {
      providers: [provider],
      groups: [{ id: 'default' }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    },
    ports: { logRequest: (record) => void finished.push(record) },
  });
}

const messages = [{ role: 'user', content: 'Hi' }];
const requests = {
  chat: { path: '/v1/chat/completions', body: { model: 'm', messages } },
  responses: { path: '/v1/responses', body: { model: 'm', input: 'Hi' } },
  messages: { path: '/v1/messages', body: { model: 'm', max_tokens: 9, messages } },
  gemini: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
};
type Name = keyof typeof requests;
const names = ['chat', 'responses', 'messages', 'gemini'] as const;

const told: Record<Name, RegExp> = {
  chat: /data: \{"error":\{"message":"Sluice is shutting down.*"code":"shutting_down"/,
  responses: /event: error\ndata: .*"code":"shutting_down"[\s\S]*event: response\.failed/,
  messages:
    /event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"Sluice is shutting down/,
  gemini: /data: \{"error":\{"code":503,"message":"Sluice is shutting down.*"status":"UNAVAILABLE"/,
};
const refusals: Record<Name, number> = { chat: 503, responses: 503, messages: 529, gemini: 503 };

function ask(name: Name, stream: boolean): Promise<Response> {
  const { path, body } = requests[name];
  const isGemini = name === 'gemini';
  const wholePath = isGemini && !stream ? '/v1beta/models/m:generateContent' : path;
  return fetch(gateway.origin + wholePath, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${testKey}`,
      'content-type': 'application/json',
      ...(name === 'messages' && { 'anthropic-version': '2023-06-01' }),
    },
    body: JSON.stringify({ ...body, ...(stream && !isGemini && { stream: true }) }),
  });
}

describe.each(names)('50 requests of %s that run at the end of the grace period', (name) => {
  test('get the error event if their answers have begun', async () => {
    await start(true);
    const replies = await Promise.all(Array.from({ length: 50 }, () => ask(name, true)));
    const readers = replies.map((reply) => reply.text());
    await eventually(() => upstream.seen.length === 50);
    await gateway.gateway.stop(0);
    for (const text of await Promise.all(readers)) {
      expect(text).toContain('So far');
      expect(text).toMatch(told[name]);
    }
    expect(finished).toHaveLength(50);
    for (const record of finished) {
      expect(record).toMatchObject({
        outcome: 'stream-broken',
        errorCode: 'shutting_down',
        attempts: [{ failure: null }],
      });
    }
  });

  test('get 503 shutting_down if nothing has been sent', async () => {
    await start(false);
    const replies = Array.from({ length: 50 }, () => begun(ask(name, false)));
    await eventually(() => upstream.seen.length === 50);
    await gateway.gateway.stop(0);
    for (const reply of await Promise.all(replies)) {
      expect(reply.status).toBe(refusals[name]);
      expect(await reply.text()).toContain('Sluice is shutting down');
    }
    expect(finished).toHaveLength(50);
    for (const record of finished) {
      expect(record).toMatchObject({ outcome: 'error', errorCode: 'shutting_down', attempts: [{ failure: null }] });
    }
  });
});

test('a purchase that runs at the end of the grace period is told as one that may have been made, so that SDKs do not repeat it', async () => {
  await start(false);
  const reply = fetch(`${gateway.origin}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', prompt: 'a cat' }),
  });
  await eventually(() => upstream.seen.length === 1);
  await gateway.gateway.stop(0);
  const { status, headers, json } = await reply.then(async (response) => ({
    ...{ status: response.status, headers: response.headers },
    json: await response.json(),
  }));
  expect([status, headers.get('x-should-retry')]).toEqual([502, 'false']);
  expect(json).toMatchObject({ error: { code: 'purchase_outcome_unknown' } });
  expect(finished).toMatchObject([
    { outcome: 'error', errorCode: 'purchase_outcome_unknown', costUsd: null, attempts: [{ failure: 'lost' }] },
  ]);
});
