/** What is stored of captured requests, and why parts may be missing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeaderList } from '../../../server/contract/capture.ts';
import { FlowCount } from '../../../server/exchange/capture/attempt-capture.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream, writePieces } from '../../support/upstream.ts';
import { chatWithUsage } from './streams.ts';

const keptKey = 'sk-kept-key-0123456789';
const marked = { authorization: 'Bearer sk-marked-key-0123456789' };
const kept = { authorization: `Bearer ${keptKey}` };
const maxBytes = 2_000;

let upstream: ScriptedUpstream;
let second: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  second = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [
        mainProvider(upstream.baseUrl),
        { id: 'second', baseUrl: second.baseUrl, credentials: [{ id: 'c1' }], models: ['gpt-x'] },
      ],
      groups: [
        { id: 'default', deny: ['denied'] },
        { id: 'kept', capture: true, deny: ['denied'], policy: { retries: 0 } },
        { id: 'closed', captureOnRequest: false },
      ],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'k2', group: 'kept', hash: hashOf(keptKey) },
        { id: 'k3', group: 'default', hash: hashOf('sk-marked-key-0123456789'), capture: true },
        { id: 'k4', group: 'closed', hash: hashOf('sk-closed-key-0123456789') },
        { id: 'k5', group: 'kept', hash: hashOf('sk-narrow-key-0123456789'), limits: { requestsPerMinute: 1 } },
      ],
      settings: { capture: { maxBytes }, limits: { jsonBodyBytes: 5_000 } },
    },
    secrets: { 'provider/second/c1': 'second-upstream-secret' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await second.stop();
});

const plain = '{"model":"gpt-x"}';

interface Asked {
  path?: string;
  body?: string;
  headers?: Record<string, string>;
}

async function ask({ path = '/chat/completions', body = plain, headers = kept }: Asked) {
  const response = await gateway.fetch(path, { method: 'POST', body, headers });
  const text = await response.text().catch(() => '');
  return { text, status: response.status, ...(await found(response.headers.get('x-sluice-request-id') ?? '')) };
}

async function found(id: string) {
  await gateway.record(id);
  return gateway.gateway.query({ type: 'request', id });
}

async function captureOf(asked: Asked) {
  const { capture } = await ask(asked);
  if (!capture) throw new Error('nothing is kept');
  return capture;
}

const named = (headers: HeaderList | null | undefined) => Object.fromEntries(headers ?? []);

describe('a refused request', () => {
  test.each<[string, Asked, number, string]>([
    ['for its JSON', { body: '{"model":' }, 400, '{"model":'],
    ['for its model', { body: '{"model":"denied"}' }, 404, '{"model":"denied"}'],
  ])('%s is kept with its body and Sluice’s answer', async (_why, asked, status, body) => {
    const { capture, text, request } = await ask(asked);
    expect(request).toMatchObject({ status, captured: 'group' });
    expect(capture).toMatchObject({
      request: { method: 'POST', url: '/v1/chat/completions', body: { data: body }, gap: null },
      response: { status, body: { data: text }, gap: null },
      attempts: [],
    });
    expect(named(capture?.request.headers)).toMatchObject({ authorization: '[redacted]' });
    expect(named(capture?.response.headers)).toMatchObject({ 'content-type': 'application/json' });
  });

  test('with an unknown path is kept, though its body was not read', async () => {
    const { capture } = await ask({ path: '/nowhere' });
    expect(capture).toMatchObject({
      request: { url: '/v1/nowhere', body: null, gap: 'unread' },
      response: { status: 404, gap: null },
    });
  });

  test('that is too large is kept without its body, which was not read', async () => {
    const capture = await captureOf({ body: `{"model":"${'x'.repeat(6_000)}"}` });
    expect(capture).toMatchObject({ request: { body: null, gap: 'unread' }, response: { status: 413 } });
  });

  test('that turns out too large on its way is kept with its beginning', async () => {
    const pieces = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(`{"model":"${'x'.repeat(3_000)}`));
        controller.enqueue(Buffer.alloc(6_000, 'x'));
        controller.close();
      },
    });
    const init = { method: 'POST', body: pieces, headers: kept, duplex: 'half' };
    const response = await gateway.fetch('/chat/completions', init as RequestInit);
    const { capture } = await found(response.headers.get('x-sluice-request-id') ?? '');
    expect(response.status).toBe(413);
    expect(capture?.request.body?.data).toHaveLength(maxBytes);
    expect(capture?.request.gap).toBe('too-long');
  });

  test('over a limit of its key is kept', async () => {
    const narrow = { authorization: 'Bearer sk-narrow-key-0123456789' };
    upstream.answer((_request, response) => json(response, { ok: true }));
    await ask({ headers: narrow });
    const capture = await captureOf({ headers: narrow });
    expect(capture).toMatchObject({ request: { body: { data: plain } }, response: { status: 429, gap: null } });
  });
});

describe('attempts', () => {
  test('that failed are kept with what each provider was sent and said', async () => {
    const refusal = { error: { message: 'The model is on fire', type: 'server_error' } };
    upstream.answer((_request, response) =>
      json(response, refusal, 500, { 'x-ratelimit-limit-requests': '60', 'x-echo': 'upstream-secret' }),
    );
    second.answer((_request, response) => json(response, { id: 'x', choices: [] }));
    const capture = await captureOf({});
    expect(capture.attempts).toMatchObject([
      {
        request: { method: 'POST', url: `${upstream.baseUrl}/chat/completions`, body: null, gap: 'as-client' },
        response: { status: 500, body: { data: JSON.stringify(refusal) }, gap: null },
      },
      {
        request: { url: `${second.baseUrl}/chat/completions`, gap: 'as-client' },
        response: { status: 200, body: null, gap: 'as-client' },
      },
    ]);
    expect(named(capture.attempts[0]?.request.headers)).toMatchObject({ authorization: '[redacted]' });
    expect(named(capture.attempts[0]?.response.headers)).toMatchObject({
      'x-ratelimit-limit-requests': '60',
      'x-echo': '[redacted]',
    });
    expect(capture.response).toMatchObject({ status: 200, body: { data: '{"id":"x","choices":[]}' } });
    expect(named(capture.response.headers)).toMatchObject({ 'x-sluice-provider': 'second' });
  });

  test('that change the body keep what was sent', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.end(chatWithUsage);
    });
    const capture = await captureOf({ body: '{"model":"main/gpt-x","stream":true}' });
    const sent = JSON.parse(capture.attempts[0]?.request.body?.data ?? '');
    expect(sent).toEqual({ model: 'gpt-x', stream: true, stream_options: { include_usage: true } });
    expect(capture.attempts[0]?.response.body?.data).toBe(chatWithUsage);
    expect(capture.response.body?.data).not.toContain('"usage":{');
  });

  test('that broke off keep what arrived', async () => {
    upstream.answer(async (_request, response) => {
      eventStream(response);
      await writePieces(response, Buffer.from('data: {"lost"'), []);
      response.destroy();
    });
    second.answer((_request, response) => {
      eventStream(response);
      response.end(chatWithUsage);
    });
    const body = '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true}}';
    const capture = await captureOf({ body });
    expect(capture.attempts).toMatchObject([
      { response: { status: 200, body: { data: 'data: {"lost"' }, gap: 'incomplete' } },
      { response: { gap: 'as-client' } },
    ]);
    expect(capture.response).toMatchObject({ body: { data: chatWithUsage }, gap: null });
  });

  test('whose provider was not reached are marked as such', async () => {
    upstream.answer((_request, response) => void response.destroy());
    second.answer((_request, response) => void response.destroy());
    const { capture, text } = await ask({});
    expect(capture?.attempts).toMatchObject([
      { request: { gap: 'as-client' }, response: { status: null, headers: null, gap: 'no-response' } },
      { response: { gap: 'no-response' } },
    ]);
    expect(capture?.response).toMatchObject({ status: 502, body: { data: text } });
  });

  test('keep no secret, neither of their own nor of another attempt', async () => {
    const all = 'upstream-secret second-upstream-secret sk-kept-key-0123456789';
    upstream.answer((_request, response) => json(response, { error: { message: all } }, 500, { 'x-all': all }));
    second.answer((_request, response) => json(response, { all }, 200, { 'x-all': all }));
    const capture = JSON.stringify(await captureOf({ path: `/chat/completions?key=${keptKey}&token=planted-token` }));
    expect(capture).toContain('[redacted]');
    expect(capture).not.toMatch(/upstream-secret|sk-kept|planted-token/);
  });
});

describe('a body that is not kept', () => {
  test.each<[string, string, () => void]>([
    [
      'compressed',
      'compressed',
      () =>
        upstream.answer((_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
          response.end(gzipSync('{"choices":[]}'));
        }),
    ],
    [
      'too long',
      'too-long',
      () => upstream.answer((_request, response) => json(response, { choices: [], long: 'x'.repeat(3_000) })),
    ],
  ])('is marked with the reason: it is %s', async (_why, gap, script) => {
    script();
    const capture = await captureOf({ body: '{"model":"main/gpt-x"}' });
    expect(capture.response.gap).toBe(gap);
    expect(capture.response.body?.data.length ?? 0).toBe(gap === 'too-long' ? maxBytes : 0);
  });

  test('is marked with the reason: it is a form', async () => {
    upstream.answer((_request, response) => json(response, { text: 'hello' }));
    const form = new FormData();
    form.set('model', 'gpt-x');
    form.set('file', new Blob(['RIFF']), 'a.wav');
    const response = await gateway.fetch('/audio/transcriptions', { method: 'POST', body: form, headers: kept });
    await response.text();
    const { capture } = await found(response.headers.get('x-sluice-request-id') ?? '');
    expect(capture).toMatchObject({
      request: { body: null, gap: 'upload' },
      attempts: [{ request: { body: null, gap: 'upload' } }],
    });
  });

  test('is marked with the reason: Sluice answers by itself', async () => {
    const response = await gateway.fetch('/models', { headers: kept });
    await response.text();
    const { capture } = await found(response.headers.get('x-sluice-request-id') ?? '');
    expect(capture).toMatchObject({
      request: { method: 'GET', body: null, gap: null },
      response: { status: 200, gap: 'own-answer' },
    });
  });
});

describe('capture', () => {
  const answering = () => upstream.answer((_request, response) => json(response, { ok: true }));

  test('is off by default, and says that it was', async () => {
    answering();
    const { request, capture, captureAbsence } = await ask({ headers: {} });
    expect({ captured: request.captured, capture, captureAbsence }).toEqual({
      captured: null,
      capture: null,
      captureAbsence: 'off',
    });
  });

  test('is on for a key that has it on', async () => {
    answering();
    expect(await ask({ headers: marked })).toMatchObject({ request: { captured: 'key' }, captureAbsence: null });
  });

  test('is on for one request whose client asks for it, unless its group forbids that', async () => {
    answering();
    const asks = { 'x-sluice-capture': 'on' };
    expect(await ask({ headers: asks })).toMatchObject({ request: { captured: 'header' } });
    expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('x-sluice-capture');
    expect(await ask({ headers: { 'x-sluice-capture': 'off' } })).toMatchObject({ captureAbsence: 'off' });
    const closed = { authorization: 'Bearer sk-closed-key-0123456789', ...asks };
    expect(await ask({ headers: closed })).toMatchObject({ captureAbsence: 'off' });
  });

  test('is on for some minutes, of a group, a key or all, and ends when it is stopped', async () => {
    answering();
    const { execute } = gateway.gateway;
    const before = Date.now();
    const { timed } = await execute({ type: 'capture.start', group: 'default', minutes: 5 });
    expect(timed).toMatchObject([{ kind: 'group', id: 'default' }]);
    expect(timed[0]?.untilMs).toBeGreaterThanOrEqual(before + 5 * 60_000);
    expect((await gateway.gateway.query({ type: 'status' })).capture).toEqual(timed);
    expect(await ask({ headers: {} })).toMatchObject({ request: { captured: 'timed' } });
    const closed = { authorization: 'Bearer sk-closed-key-0123456789' };
    expect(await ask({ headers: closed })).toMatchObject({ captureAbsence: 'off' });
    expect(await execute({ type: 'capture.stop', group: 'default' })).toEqual({ timed: [] });
    expect(await ask({ headers: {} })).toMatchObject({ captureAbsence: 'off' });
    await execute({ type: 'capture.start', key: 'k4' });
    expect(await ask({ headers: closed })).toMatchObject({ request: { captured: 'timed' } });
    await execute({ type: 'capture.stop', key: 'k4' });
    await execute({ type: 'capture.start' });
    expect(await ask({ headers: {} })).toMatchObject({ request: { captured: 'timed' } });
    await execute({ type: 'capture.stop' });
  });

  test('is on for the next request only', async () => {
    answering();
    const { execute, query } = gateway.gateway;
    await execute({ type: 'capture.start', requests: 1 });
    expect(await ask({ headers: {} })).toMatchObject({ request: { captured: 'timed' } });
    expect(await ask({ headers: {} })).toMatchObject({ captureAbsence: 'off' });
    expect((await query({ type: 'status' })).capture).toEqual([]);
  });

  test('for some minutes is refused for a group or key that is not there', async () => {
    const { execute } = gateway.gateway;
    await expect(execute({ type: 'capture.start', group: 'none' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(execute({ type: 'capture.start', key: 'none' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(execute({ type: 'capture.start', key: 'k1', group: 'default' })).rejects.toMatchObject({
      code: 'invalid_command',
    });
  });
});

test('a stream is kept with the times of its events, also where the client received the same bytes', async () => {
  upstream.answer(async (_request, response) => {
    eventStream(response);
    const [first = '', ...others] = chatWithUsage.split(/(?<=\n\n)/);
    await writePieces(response, Buffer.from(first), []);
    await sleep(350);
    response.end(others.join(''));
  });
  const { capture } = await ask({
    body: '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true}}',
  });
  const flow = capture?.attempts[0]?.response.flow;
  expect(capture?.attempts[0]?.response.gap).toBe('as-client');
  expect(flow?.stepMs).toBe(100);
  // The first one, nothing for a while, and the others.
  expect(flow?.events.slice(0, 2)).toEqual([1, 0]);
  expect(flow?.events.reduce((sum, count) => sum + count, 0)).toBe(chatWithUsage.split('\n\n').length - 1);
});

test.each<[string, [text: string, atMs: number][], object | undefined]>([
  ['at once', [['data: 1\n\ndata: 2\n\n', 7]], undefined],
  [
    'in parts',
    [
      ['data: 1\n', 0],
      ['\nda', 150],
      ['ta: 2\r\n\r', 250],
      ['\n', 460],
    ],
    { stepMs: 100, events: [0, 1, 0, 0, 1] },
  ],
  [
    'for hours',
    [
      ['a\n\n', 0],
      ['b\n\n', 100],
      ['c\n\n', 119_900],
    ],
    { stepMs: 200, events: [2, ...Array(598).fill(0), 1] },
  ],
])('events that come %s are counted by the time of their end', (_how, chunks, flow) => {
  const count = new FlowCount();
  for (const [text, atMs] of chunks) count.take(Buffer.from(text), 1_000 + atMs);
  expect(count.flow).toEqual(flow);
});
