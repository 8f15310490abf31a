/** What Sluice cuts at the end of the grace period: its clients are told why, and the ledger says that it was Sluice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { OpenCassette } from '../../../server/cassettes/deck.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestRecord } from '../../../server/contract/ledger.ts';
import { begun, eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import * as chat from '../../support/strict-chat.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

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

test('a purchase that waits to be asked again after a refusal is told 503, since nothing can have been made', async () => {
  let hasRefused = false;
  upstream = await startUpstream((_request, response) => {
    response.on('finish', () => {
      hasRefused = true;
    });
    json(response, { error: {} }, 429, { 'retry-after': '2' });
  });
  gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)] },
    ports: { logRequest: (record) => void finished.push(record) },
  });
  const reply = begun(gateway.fetch('/images/generations', { method: 'POST', body: '{"model":"m","prompt":"a cat"}' }));
  await eventually(() => hasRefused);
  // Whatever came before these has been read.
  for (let round = 0; round < 2; round++) await (await gateway.fetch('/models')).json();
  await gateway.gateway.stop(0);
  expect([(await reply).status, await (await reply).json()]).toMatchObject([503, { error: { code: 'shutting_down' } }]);
  const purchases = finished.filter(({ attempts }) => attempts.length > 0);
  expect(purchases).toMatchObject([{ errorCode: 'shutting_down', costUsd: 0, attempts: [{ failure: 'rate-limit' }] }]);
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

describe('what no provider is asked for', () => {
  const stream = { model: 'm', messages, stream: true };
  const post = (body: object) =>
    begun(gateway.fetch('/chat/completions', { method: 'POST', body: JSON.stringify(body) }));
  const noteFinished = { logRequest: (record: RequestRecord) => void finished.push(record) };

  test('is a recording: it ends with a broken connection, and is booked as cut off by Sluice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-cut-'));
    const open = (mode: 'record' | 'replay') =>
      OpenCassette.open({ folder, mode, pace: 100, problem: (line) => expect.fail(line) });
    upstream = await startUpstream(async (_request, response) => {
      eventStream(response);
      response.write(chat.chunk({ role: 'assistant', content: 'So far' }));
      await delay(200);
      response.end(chat.streamOf([{ content: ' so good' }]));
    });
    const recording = await open('record');
    const config = { providers: [mainProvider(upstream.baseUrl)] };
    const recorder = await startGateway({ config, ports: { cassette: recording } });
    await (await recorder.fetch('/chat/completions', { method: 'POST', body: JSON.stringify(stream) })).text();
    await recorder.stop();
    await recording.close();

    gateway = await startGateway({ config, ports: { ...noteFinished, cassette: await open('replay') } });
    const reader = (await post(stream)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('So far');
    await gateway.gateway.stop(0);
    await expect(reader?.read()).rejects.toThrow();
    expect(finished).toMatchObject([
      { outcome: 'stream-broken', status: 200, errorCode: 'shutting_down', cassette: 'replayed', attempts: [] },
    ]);
    expect(upstream.seen).toHaveLength(1);
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['whole answer', false],
    ['stream, of which there are only comments so far', true],
  ])('is the %s that an equal request is waiting for: both clients are told', async (_, isStream) => {
    upstream = await startUpstream(() => {});
    gateway = await startGateway({
      config: {
        providers: [mainProvider(upstream.baseUrl)],
        groups: [{ id: 'default', cache: { coalesce: true } }],
        settings: { keepAliveCommentMs: 1_000 },
      },
      ports: noteFinished,
    });
    const body = { model: 'm', temperature: 0, messages, ...(isStream && { stream: true }) };
    const replies = [post(body), post(body)];
    await eventually(
      async () =>
        (await gateway.gateway.query({ type: 'requests', filter: { outcome: 'running' } })).requests.length === 2,
    );
    if (isStream) await Promise.all(replies);
    await gateway.gateway.stop(0);
    for (const reply of replies) {
      expect((await reply).status).toBe(isStream ? 200 : 503);
      expect(await (await reply).text()).toMatch(/"code":"shutting_down"\}\}\s*$/);
    }
    expect(finished.map(({ outcome, errorCode }) => [outcome, errorCode])).toEqual(
      Array.from({ length: 2 }, () => ['error', 'shutting_down']),
    );
    expect(upstream.seen).toHaveLength(1);
  });
});
