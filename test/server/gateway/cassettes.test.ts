/** Requests that are recorded in a cassette, and replayed from it without a provider. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CassetteMode, OpenCassette } from '../../../server/cassettes/desk.ts';
import type { RecordedExchange } from '../../../server/cassettes/format.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import { chunk, completion, sendStream, streamOf } from '../../support/strict-chat.ts';
import {
  eventStream,
  json,
  oddCuts,
  type ScriptedUpstream,
  sendPieces,
  startUpstream,
} from '../../support/upstream.ts';

let folder: string;
let upstream: ScriptedUpstream;
const gateways: TestGateway[] = [];
const problems: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cassette-'));
  upstream = await startUpstream();
  problems.length = 0;
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A gateway whose provider is the upstream when it records, and that has none when it replays. */
async function open(mode: CassetteMode, config: object = {}, pace = 0) {
  const cassette = await OpenCassette.open({ folder, mode, pace, problem: (line) => problems.push(line) });
  const providers = mode === 'replay' ? [] : [mainProvider(upstream.baseUrl)];
  const gateway = await startGateway({ config: { providers, ...config }, ports: { cassette } });
  gateways.push(gateway);
  return { cassette, gateway };
}

/** The recordings by the names of their files, in their order. */
function recordings(): [string, RecordedExchange][] {
  const names = readdirSync(folder).filter((name) => name !== 'cassette.json');
  return names.sort().map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8'))]);
}

const hello = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'Hi' }] };

async function ask(gateway: TestGateway, body: object, path = '/chat/completions') {
  const response = await gateway.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { response, text: await response.text() };
}

describe('the official clients', () => {
  test('of OpenAI get the recorded answer byte for byte, without a provider', async () => {
    upstream.answer((_request, response) => json(response, completion({ content: 'Hello — there' })));
    const recorded = await open('record');
    const first = await recorded.gateway.client.chat.completions.create(hello);
    await recorded.cassette.close();
    upstream.answer(() => {
      throw new Error('A provider was asked.');
    });
    const { gateway, cassette } = await open('replay');
    const { data, response } = await gateway.client.chat.completions.create(hello).withResponse();
    expect(data).toEqual(first);
    expect(response.headers.get('x-sluice-replay')).toBe('hit');
    expect(cassette.summary).toMatchObject({ hits: 1, misses: 0, unused: [] });
    const row = { modelAsked: 'gpt-x', outcome: 'ok', status: 200, provider: null, usage: null, costUsd: 0 };
    expect(await gateway.record()).toMatchObject({ ...row, attempts: [] });
  });

  test('of Anthropic get the recorded stream, translated from another API when it was recorded', async () => {
    upstream.answer((_request, response) => sendStream(response, streamOf([{ content: 'Hel' }, { content: 'lo' }])));
    const message = { model: 'gpt-x', max_tokens: 50, messages: hello.messages };
    const read = async (gateway: TestGateway) => {
      const events = [];
      for await (const event of await claudeAt(gateway).messages.create({ ...message, stream: true }))
        events.push(event);
      return events;
    };
    const recorded = await open('record');
    const first = await read(recorded.gateway);
    await recorded.cassette.close();
    const { gateway } = await open('replay');
    expect(await read(gateway)).toEqual(first);
    expect(first.length).toBeGreaterThan(3);
  });
});

test('a stream is replayed byte for byte, however its upstream had cut it', async () => {
  const events =
    'event: a\ndata: {"x":"ä"}\n\n: odd\r\n\r\ndata: {"y": 1}\n\ndata: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  upstream.answer((_request, response) => {
    eventStream(response);
    return sendPieces(response, Buffer.from(events), oddCuts(Buffer.byteLength(events)));
  });
  const recorded = await open('record');
  const first = await ask(recorded.gateway, { ...hello, stream: true });
  await recorded.cassette.close();
  const { gateway } = await open('replay');
  const again = await ask(gateway, { ...hello, stream: true });
  expect(again.text).toBe(first.text);
  expect(again.response.headers.get('content-type')).toBe(first.response.headers.get('content-type'));
});

test('a recording is a file that a person can read', async () => {
  upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const { cassette, gateway } = await open('record');
  await ask(gateway, { ...hello, user: 'u1' });
  await cassette.close();
  const [[name, exchange] = ['', null]] = recordings();
  expect(name).toMatch(/^0001-chat-completions-[0-9a-f]{6}\.json$/);
  expect(exchange).toMatchObject({
    version: 1,
    request: {
      method: 'POST',
      path: '/v1/chat/completions',
      wire: 'openai-chat',
      headers: { 'content-type': 'application/json' },
      body: { json: { ...hello, user: 'u1' } },
    },
    response: { status: 200, ended: 'complete', body: { json: completion({ content: 'Hello' }) } },
    usage: { inputTokens: 21, outputTokens: 9 },
  });
  expect(readFileSync(join(folder, name), 'utf8')).toContain('\n  "request": {\n    "method": "POST",\n');
});

test('equal requests get their answers in the order of the recording, and then the last one again', async () => {
  let count = 0;
  upstream.answer((_request, response) => json(response, completion({ content: `Answer ${++count}` })));
  const recorded = await open('record');
  for (let index = 0; index < 3; index++) await ask(recorded.gateway, hello);
  await recorded.cassette.close();
  const { gateway } = await open('replay');
  const answers = [];
  for (let index = 0; index < 5; index++) answers.push(/Answer \d/.exec((await ask(gateway, hello)).text)?.[0]);
  expect(answers).toEqual(['Answer 1', 'Answer 2', 'Answer 3', 'Answer 3', 'Answer 3']);
});

test('a miss names the nearest recording and the first field that differs, in the shape of the client’s API', async () => {
  upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const recorded = await open('record');
  await ask(recorded.gateway, { ...hello, temperature: 0 });
  await ask(recorded.gateway, { model: 'other', messages: [{ role: 'user', content: 'Something else' }] });
  await recorded.cassette.close();
  const asked = upstream.seen.length;
  const { gateway, cassette } = await open('replay');
  const { response, text } = await ask(gateway, { ...hello, temperature: 1 });
  expect(response.status).toBe(404);
  expect(response.headers.get('x-sluice-replay')).toBe('miss');
  const { error } = JSON.parse(text);
  expect(error).toMatchObject({ type: 'invalid_request_error', code: 'replay_miss' });
  expect(error.message).toMatch(/The nearest one, 0001-\S+, differs first in temperature: recorded 0, asked 1\.$/);
  await expect(
    claudeAt(gateway).messages.create({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }),
  ).rejects.toMatchObject({
    status: 404,
    error: { type: 'error', error: { message: expect.stringContaining('No recording in') } },
  });
  expect(cassette.summary).toMatchObject({ hits: 0, misses: 2, unused: [expect.any(String), expect.any(String)] });
  expect(upstream.seen.length).toBe(asked);
});

describe('secrets', () => {
  const planted = 'planted-secret-4711-abcdef';

  /** Everything that is in the folder. */
  const stored = () =>
    readdirSync(folder)
      .filter((name) => name !== 'cassette.json')
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');

  test('of keys, credentials, headers, cookies and URLs are in no file, even where a body repeats them', async () => {
    upstream.answer((_request, response) =>
      json(
        response,
        completion({ content: `Your keys are ${testKey} and upstream-secret, sk-${'a1'.repeat(12)}.` }),
        200,
        {
          'set-cookie': `session=${planted}`,
          'x-request-id': `id-${testKey}`,
        },
      ),
    );
    const { cassette, gateway } = await open('record');
    await gateway.fetch(`/chat/completions?key=${encodeURIComponent(testKey)}&api_key=${planted}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        cookie: `session=${planted}`,
        'x-api-key': planted,
        'openai-beta': `a; Bearer ${planted}`,
      },
      body: JSON.stringify({
        ...hello,
        note: `${testKey} in \u0022quotes\u0022`,
        [`name ${testKey}`]: 'upstream-secret',
      }),
    });
    await cassette.close();
    expect(cassette.summary.recorded).toBe(1);
    for (const secret of [testKey, 'upstream-secret', planted, 'sk-a1a1']) expect(stored()).not.toContain(secret);
    expect(stored()).toContain('Your keys are [redacted] and [redacted], [redacted].');
  });

  test('that a stream spreads over its pieces and its events are removed, and no other text', async () => {
    const halves = (text: string) => [text.slice(0, 5), text.slice(5)].map((content) => ({ content }));
    const text = streamOf([
      { content: 'It is ' },
      ...halves(testKey),
      { content: ' or ' },
      ...halves('order-4711-0815'),
      { content: '.' },
    ]);
    upstream.answer((_request, response) => {
      eventStream(response);
      return sendPieces(response, Buffer.from(text), oddCuts(text.length));
    });
    writeFileSync(join(folder, 'cassette.json'), '{ "version": 1, "redact": ["order-\\\\d+-\\\\d+"] }');
    const recorded = await open('record');
    const { text: live } = await ask(recorded.gateway, { ...hello, stream: true });
    await recorded.cassette.close();
    const { gateway } = await open('replay');
    const { text: replayed } = await ask(gateway, { ...hello, stream: true });
    expect(contentOf(live)).toBe(`It is ${testKey} or order-4711-0815.`);
    expect(contentOf(replayed)).toBe('It is [redacted] or [redacted].');
    expect(stored()).not.toMatch(/key with|4711/);
  });

  function contentOf(stream: string): string {
    const events = stream.split('\n\n').filter((event) => event.startsWith('data: {'));
    return events.map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? '').join('');
  }

  test('a request whose key was removed is found again with another key', async () => {
    upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
    const askWith = (gateway: TestGateway, key: string) =>
      gateway.fetch('/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...hello, note: `my key is ${key}` }),
      });
    const recorded = await open('record');
    await askWith(recorded.gateway, testKey);
    await recorded.cassette.close();
    const otherKey = 'another key of these tests';
    const { gateway } = await open('replay', { keys: [{ id: 'k2', group: 'default', hash: hashOf(otherKey) }] });
    expect((await askWith(gateway, otherKey)).headers.get('x-sluice-replay')).toBe('hit');
  });
});

describe('what is compared', () => {
  async function replayOf(recorded: object[], settings: object = {}) {
    let count = 0;
    upstream.answer((_request, response) => json(response, completion({ content: `Answer ${++count}` })));
    writeFileSync(join(folder, 'cassette.json'), JSON.stringify({ version: 1, ...settings }));
    const { cassette, gateway } = await open('record');
    for (const body of recorded) await ask(gateway, body);
    await cassette.close();
    const replay = await open('replay');
    return async (body: object) => {
      const { response, text } = await ask(replay.gateway, body);
      return response.status === 200 ? /Answer \d/.exec(text)?.[0] : response.status;
    };
  }

  test('is neither the order of names, nor the user, the metadata and ids that clients invent', async () => {
    const answer = await replayOf([{ ...hello, user: 'u1', metadata: { user_id: 's1' }, prompt_cache_key: 'c1' }]);
    const { model, messages } = hello;
    expect(await answer({ messages, model, user: 'u2', metadata: { user_id: 's2' }, prompt_cache_key: 'c2' })).toBe(
      'Answer 1',
    );
    expect(await answer({ messages, model })).toBe('Answer 1');
    expect(await answer({ messages, model, temperature: 0 })).toBe(404);
  });

  test('is neither a date nor a UUID in a text, unless there is a recording with the same', async () => {
    const on = (date: string) => ({ ...hello, messages: [{ role: 'user', content: `Today is ${date}.` }] });
    const answer = await replayOf([on('2026-01-01'), on('2026-01-02')]);
    expect(await answer(on('2026-01-02'))).toBe('Answer 2');
    expect(await answer(on('2031-12-24'))).toBe('Answer 1');
    expect(await answer(on('tomorrow'))).toBe(404);
  });

  test('is what cassette.json says', async () => {
    const body = (seed: number, id: string, user: string) => ({
      ...hello,
      seed,
      user,
      messages: [{ role: 'user', content: `Run ${id}`, id }],
    });
    const settings = { ignore: ['seed', 'messages.*.id'], ignoreText: ['Run \\d+'], compare: ['user'] };
    const answer = await replayOf([body(1, '17', 'ann')], settings);
    expect(await answer(body(2, '18', 'ann'))).toBe('Answer 1');
    expect(await answer(body(1, '17', 'bob'))).toBe(404);
  });

  test('of a form are its fields and the content of its files, however it is sent', async () => {
    upstream.answer((_request, response) => json(response, { text: 'Hello' }));
    const send = (gateway: TestGateway, content: string) => {
      const body = new FormData();
      body.set('model', 'gpt-x');
      body.set('file', new File([content], 'a.mp3', { type: 'audio/mpeg' }));
      return gateway.fetch('/audio/transcriptions', { method: 'POST', body });
    };
    const recorded = await open('record');
    await (await send(recorded.gateway, 'sound')).text();
    await recorded.cassette.close();
    const { gateway } = await open('replay');
    expect(await (await send(gateway, 'sound')).json()).toEqual({ text: 'Hello' });
    expect((await send(gateway, 'other')).status).toBe(404);
    expect(recordings()[0]?.[1].request.body).toEqual({
      form: [
        { name: 'model', value: 'gpt-x' },
        {
          name: 'file',
          filename: 'a.mp3',
          contentType: 'audio/mpeg',
          bytes: 5,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
    });
  });
});

test('a job is replayed through its states, and its content byte for byte', async () => {
  const content = Buffer.from([0, 255, 1, 254, 0xc3, 0x28]);
  const states = ['queued', 'in_progress', 'completed'];
  upstream.answer(({ method, url }, response) => {
    if (url.endsWith('/content')) response.writeHead(200, { 'content-type': 'video/mp4' }).end(content);
    else
      json(response, {
        id: 'video_1',
        object: 'video',
        model: 'sora-2',
        status: method === 'POST' ? states[0] : states.shift(),
      });
  });
  const run = async (gateway: TestGateway) => {
    const created = await (
      await gateway.fetch('/videos', {
        method: 'POST',
        body: '{"model":"sora-2","prompt":"A fox"}',
        headers: { 'content-type': 'application/json' },
      })
    ).json();
    const seen = [];
    for (let index = 0; index < 3; index++)
      seen.push((await (await gateway.fetch(`/videos/${created.id}`)).json()).status);
    const bytes = Buffer.from(await (await gateway.fetch(`/videos/${created.id}/content`)).arrayBuffer());
    return { seen, bytes };
  };
  const recorded = await open('record');
  const first = await run(recorded.gateway);
  await recorded.cassette.close();
  expect(first).toEqual({ seen: ['queued', 'in_progress', 'completed'], bytes: content });
  const { gateway } = await open('replay');
  expect(await run(gateway)).toEqual(first);
});

test('a stream that broke off breaks off again at the same place', async () => {
  upstream.answer((_request, response) => {
    eventStream(response);
    response.write(streamOf([{ content: 'Hello' }]).slice(0, -100), () => response.destroy());
  });
  const recorded = await open('record', { settings: {} });
  const first = await ask(recorded.gateway, { ...hello, stream: true }).catch(() => 'broken');
  await recorded.cassette.close();
  const { gateway } = await open('replay');
  const again = await ask(gateway, { ...hello, stream: true }).catch(() => 'broken');
  expect(typeof again === 'string' ? again : again.text).toEqual(typeof first === 'string' ? first : first.text);
  expect(recordings()).toHaveLength(1);
});

test('a cassette that cannot be written any more is told, and the requests go on', async () => {
  upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const { cassette, gateway } = await open('record');
  rmSync(folder, { recursive: true });
  expect((await ask(gateway, hello)).response.status).toBe(200);
  await cassette.close();
  expect(cassette.summary).toMatchObject({ recorded: 0, failed: 1 });
  expect(problems).toEqual([
    expect.stringMatching(/^The recording 0001-\S+ could not be written to .*: there is no such file \(ENOENT\)\.$/),
  ]);
});

test('a request that Sluice refuses is not recorded', async () => {
  const { cassette, gateway } = await open('record');
  const { response } = await ask(gateway, { messages: [] });
  expect(response.status).toBe(400);
  await cassette.close();
  expect(cassette.summary).toMatchObject({ recorded: 0, unrecorded: 1 });
  expect(recordings()).toEqual([]);
});

test('what a crash has left of a recording is not taken for one', async () => {
  upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const recorded = await open('record');
  await ask(recorded.gateway, hello);
  await recorded.cassette.close();
  writeFileSync(join(folder, '0002-chat-completions-abcdef.json.tmp-0123456789abcdef'), '{ "version": 1, "requ');
  const { cassette, gateway } = await open('replay');
  expect((await ask(gateway, hello)).response.headers.get('x-sluice-replay')).toBe('hit');
  expect(cassette.summary.unused).toEqual([]);
});

test('the pieces of a stream come at the recorded times if the pace says so', async () => {
  upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const recorded = await open('record');
  await ask(recorded.gateway, { ...hello, stream: true });
  await recorded.cassette.close();
  const [[name, exchange] = ['', null]] = recordings();
  const events = [
    { afterMs: 1, data: { first: true } },
    { afterMs: 400, data: { last: true } },
  ];
  const response = { ...exchange?.response, headers: { 'content-type': 'text/event-stream' }, body: { events } };
  writeFileSync(join(folder, name), JSON.stringify({ ...exchange, response }));
  const { gateway } = await open('replay', {}, 1);
  const startMs = performance.now();
  const { text } = await ask(gateway, { ...hello, stream: true });
  expect(text).toBe('data: {"first":true}\n\ndata: {"last":true}\n\n');
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(399);
});

test('what a client did not wait for is recorded as far as it was sent', async () => {
  const begun = Promise.withResolvers<void>();
  upstream.answer((_request, response) => {
    eventStream(response);
    response.write(chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Hello' }), () => begun.resolve());
  });
  const { cassette, gateway } = await open('record');
  const leave = new AbortController();
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, signal: leave.signal };
  const response = await gateway.fetch('/chat/completions', {
    ...init,
    body: JSON.stringify({ ...hello, stream: true }),
  });
  await begun.promise;
  await response.body?.getReader().read();
  leave.abort();
  await gateway.record();
  await cassette.close();
  const [[, exchange] = ['', null]] = recordings();
  expect(exchange?.response.ended).toBe('client-left');
  expect(JSON.stringify(exchange?.response.body)).toContain('"delta":{"content":"Hello"}');
});
