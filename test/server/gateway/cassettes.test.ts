/** Requests recorded in a cassette and replayed from it without a provider. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ask, CassetteSuite, hello } from '../../support/cassette-suite.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import { chunk, completion, sendStream, streamOf } from '../../support/strict-chat.ts';
import { eventStream, json, oddCuts, sendPieces } from '../../support/upstream.ts';

const suite = new CassetteSuite().use();

describe('the official clients', () => {
  test('of OpenAI get the recorded answer byte for byte, without a provider', async () => {
    suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello — there' })));
    const recorded = await suite.open('record');
    const first = await recorded.gateway.client.chat.completions.create(hello);
    await recorded.cassette.close();
    suite.upstream.answer(() => {
      throw new Error('A provider was asked.');
    });
    const { gateway, cassette } = await suite.open('replay');
    const { data, response } = await gateway.client.chat.completions.create(hello).withResponse();
    expect(data).toEqual(first);
    expect(response.headers.get('x-sluice-replay')).toBe('hit');
    expect(cassette.summary).toMatchObject({ hits: 1, misses: 0, unused: [] });
    const row = { modelAsked: 'gpt-x', outcome: 'ok', status: 200, provider: null, usage: null, costUsd: 0 };
    expect(await gateway.record()).toMatchObject({ ...row, attempts: [] });
  });

  test('of Anthropic get the recorded stream, translated from another API when it was recorded', async () => {
    suite.upstream.answer((_request, response) =>
      sendStream(response, streamOf([{ content: 'Hel' }, { content: 'lo' }])),
    );
    const message = { model: 'gpt-x', max_tokens: 50, messages: hello.messages };
    const read = async (gateway: TestGateway) => {
      const events = [];
      for await (const event of await claudeAt(gateway).messages.create({ ...message, stream: true }))
        events.push(event);
      return events;
    };
    const recorded = await suite.open('record');
    const first = await read(recorded.gateway);
    await recorded.cassette.close();
    const { gateway } = await suite.open('replay');
    expect(await read(gateway)).toEqual(first);
    expect(first.length).toBeGreaterThan(3);
  });
});

test('a stream is replayed byte for byte, however its upstream had cut it', async () => {
  const events =
    'event: a\ndata: {"x":"ä"}\n\n: odd\r\n\r\ndata: {"y": 1}\n\ndata: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  suite.upstream.answer((_request, response) => {
    eventStream(response);
    return sendPieces(response, Buffer.from(events), oddCuts(Buffer.byteLength(events)));
  });
  const recorded = await suite.open('record');
  const first = await ask(recorded.gateway, { ...hello, stream: true });
  await recorded.cassette.close();
  const { gateway } = await suite.open('replay');
  const again = await ask(gateway, { ...hello, stream: true });
  expect(again.text).toBe(first.text);
  expect(again.response.headers.get('content-type')).toBe(first.response.headers.get('content-type'));
});

test('an answer that its upstream has compressed is replayed as it was sent', async () => {
  suite.upstream.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify(completion({ content: 'Hello' }))));
  });
  const recorded = await suite.open('record');
  const first = await ask(recorded.gateway, hello);
  await recorded.cassette.close();
  const { gateway } = await suite.open('replay');
  const again = await ask(gateway, hello);
  expect(first.text).toContain('Hello');
  expect(again.text).toBe(first.text);
});

test('a request that its client has compressed is recorded and found by what it decodes to', async () => {
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const body = Buffer.from(JSON.stringify(hello));
  const recorded = await suite.open('record');
  const headers = { 'content-encoding': 'gzip' };
  await recorded.gateway.fetch('/chat/completions', { method: 'POST', headers, body: new Uint8Array(gzipSync(body)) });
  await recorded.cassette.close();
  expect(suite.recordings()).toEqual([
    [expect.any(String), expect.objectContaining({ request: expect.objectContaining({ body: { json: hello } }) })],
  ]);
  const { gateway } = await suite.open('replay');
  expect((await ask(gateway, hello)).text).toContain('Hello');
});

test('a recording is a file that a person can read', async () => {
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const { cassette, gateway } = await suite.open('record');
  await ask(gateway, { ...hello, user: 'u1' });
  await cassette.close();
  const [[name, exchange] = ['', null]] = suite.recordings();
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
  expect(readFileSync(join(suite.folder, name), 'utf8')).toContain('\n  "request": {\n    "method": "POST",\n');
});

test('equal requests get their answers in the order of the recording, and then the last one again', async () => {
  let count = 0;
  suite.upstream.answer((_request, response) => json(response, completion({ content: `Answer ${++count}` })));
  const recorded = await suite.open('record');
  for (let index = 0; index < 3; index++) await ask(recorded.gateway, hello);
  await recorded.cassette.close();
  const { gateway } = await suite.open('replay');
  const answers = [];
  for (let index = 0; index < 5; index++) answers.push(/Answer \d/.exec((await ask(gateway, hello)).text)?.[0]);
  expect(answers).toEqual(['Answer 1', 'Answer 2', 'Answer 3', 'Answer 3', 'Answer 3']);
});

test('a miss names the nearest recording and the first field that differs, in the shape of the client’s API', async () => {
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const recorded = await suite.open('record');
  await ask(recorded.gateway, { ...hello, temperature: 0 });
  await ask(recorded.gateway, { model: 'other', messages: [{ role: 'user', content: 'Something else' }] });
  await recorded.cassette.close();
  const asked = suite.upstream.seen.length;
  const { gateway, cassette } = await suite.open('replay');
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
  expect(suite.upstream.seen.length).toBe(asked);
});

test('each test has its own recordings, whatever other tests ask meanwhile', async () => {
  let count = 0;
  suite.upstream.answer((_request, response) => json(response, completion({ content: `Answer ${++count}` })));
  const tests = ['tests/test_a.py::test_rain[1]', 'tests/test_a.py::test_rain[2]', null];
  const askIn = async (gateway: TestGateway, name: string | null) => {
    const headers = { 'content-type': 'application/json', ...(name !== null && { 'x-sluice-test': name }) };
    const response = await gateway.fetch('/chat/completions', { method: 'POST', headers, body: JSON.stringify(hello) });
    return /Answer \d|replay_miss/.exec(await response.text())?.[0];
  };
  const recorded = await suite.open('record');
  for (const name of [...tests, ...tests]) await askIn(recorded.gateway, name);
  await recorded.cassette.close();
  expect(suite.upstream.seen.map(({ headers }) => headers['x-sluice-test'])).toEqual(
    tests.flatMap(() => [undefined, undefined]),
  );
  const folders = readdirSync(suite.folder).filter((name) => !name.endsWith('.json'));
  expect(folders).toEqual([1, 2].map(() => expect.stringMatching(/^tests-test_a-py-test_rain-[12]-[0-9a-f]{6}$/)));

  const { gateway, cassette } = await suite.open('replay');
  expect(cassette.recordings).toBe(6);
  const [first, second, none] = await Promise.all(
    tests.map(async (name) => [await askIn(gateway, name), await askIn(gateway, name), await askIn(gateway, name)]),
  );
  expect([first, second, none]).toEqual([
    ['Answer 1', 'Answer 4', 'Answer 4'],
    ['Answer 2', 'Answer 5', 'Answer 5'],
    ['Answer 3', 'Answer 6', 'Answer 6'],
  ]);
  expect(await askIn(gateway, 'another')).toBe('replay_miss');
  expect(cassette.summary).toMatchObject({
    ...{ hits: 9, misses: 1, unused: [] },
    missed: [{ test: 'another', request: 'POST /v1/chat/completions', nearest: null, field: null }],
  });
});

test('a folder with settings of its own, or with other files, is no test of the cassette', async () => {
  for (const [folder, file] of [
    ['other', 'cassette.json'],
    ['fixtures', 'weather.json'],
  ]) {
    mkdirSync(join(suite.folder, `${folder}`));
    writeFileSync(join(suite.folder, `${folder}`, `${file}`), '{"version":1}');
  }
  const { cassette } = await suite.open('replay');
  expect([cassette.recordings, cassette.summary.unused]).toEqual([0, []]);
});

test('the nearest of several recordings is the one whose text differs least', async () => {
  const say = (content: string) => ({
    ...{ model: 'gpt-x', temperature: 0 },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content },
    ],
  });
  const texts = ['job 800e1f', 'ts 1795812345, all well', 'file /tmp/a8f3 is read', 'Sum up what was said'];
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const recorded = await suite.open('record');
  for (const text of texts) await ask(recorded.gateway, say(text));
  await recorded.cassette.close();
  const { gateway, cassette } = await suite.open('replay');
  for (const text of ['ts 1795899999, all well', 'file /tmp/77e0 is read', 'job 91aa00', 'Sum up what is said']) {
    await ask(gateway, say(text));
  }
  expect(cassette.summary.missed.map(({ nearest }) => nearest?.slice(0, 4))).toEqual(['0002', '0003', '0001', '0004']);
  expect(cassette.summary.missed[0]).toMatchObject({ test: null, field: 'messages[1].content' });
});

describe('what is recorded again', () => {
  let moment = 0;
  const answers: [string, string, object][] = [
    ['a chat', '/chat/completions', hello],
    ['a stream', '/chat/completions', { ...hello, stream: true }],
    ['a message', '/messages', { ...hello, max_tokens: 9 }],
  ];
  const answerWith = (content: string) => {
    moment++;
    suite.upstream.answer(async ({ body }, response) => {
      const stamps = { id: `chatcmpl-${moment}`, created: 1_790_000_000 + moment };
      response.setHeader('x-request-id', `req_${moment}`);
      if (!JSON.parse(body.toString()).stream) {
        json(response, { ...completion({ content }), ...stamps });
        return;
      }
      eventStream(response);
      for (const delta of [{ content }, {}]) {
        const choices = [{ index: 0, delta, finish_reason: 'content' in delta ? null : 'stop' }];
        response.write(`data: ${JSON.stringify({ ...stamps, object: 'chat.completion.chunk', choices })}\n\n`);
        await new Promise((resolve) => setTimeout(resolve, 5 * moment));
      }
      response.end('data: [DONE]\n\n');
    });
  };
  const record = async (path: string, body: object) => {
    const { gateway, cassette } = await suite.open('record');
    await ask(gateway, body, path);
    await cassette.close();
    expect(cassette.summary).toMatchObject({ recorded: 1, failed: 0 });
    return suite.recordings().map(([name]) => [name, readFileSync(join(suite.folder, name), 'utf8')]);
  };

  test.each(answers)(
    'stays as it is if the answer to %s says the same, and changes if not',
    async (_what, path, body) => {
      answerWith('Hello');
      const before = await record(path, body);
      answerWith('Hello');
      expect(await record(path, body)).toEqual(before);
      answerWith('Bye');
      const after = await record(path, body);
      expect(after.map(([name]) => name)).toEqual(before.map(([name]) => name));
      expect(after[0]?.[1]).toContain('Bye');
      expect(after[0]?.[1]).toContain(`${1_790_000_000 + moment}`.slice(0, path === '/messages' ? 0 : 10));
    },
  );

  test('is written if it has other ids that a later request sends back', async () => {
    const calling = (id: string) => ({
      ...completion({
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
      }),
    });
    for (const id of ['call_1', 'call_2']) {
      suite.upstream.answer((_request, response) => json(response, calling(id)));
      expect((await record('/chat/completions', hello))[0]?.[1]).toContain(id);
    }
  });
});

test('a miss is still reported if the file of the nearest recording is gone', async () => {
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const recorded = await suite.open('record');
  await ask(recorded.gateway, hello);
  await recorded.cassette.close();
  const { gateway } = await suite.open('replay');
  for (const [name] of suite.recordings()) rmSync(join(suite.folder, name));
  const { response, text } = await ask(gateway, { ...hello, temperature: 1 });
  expect([response.status, JSON.parse(text).error.code]).toEqual([404, 'replay_miss']);
});

test('a stream that broke off breaks off again at the same place', async () => {
  suite.upstream.answer((_request, response) => {
    eventStream(response);
    response.write(streamOf([{ content: 'Hello' }]).slice(0, -100), () => response.destroy());
  });
  const recorded = await suite.open('record', { settings: {} });
  const first = await ask(recorded.gateway, { ...hello, stream: true }).catch(() => 'broken');
  await recorded.cassette.close();
  const { gateway } = await suite.open('replay');
  const again = await ask(gateway, { ...hello, stream: true }).catch(() => 'broken');
  expect(typeof again === 'string' ? again : again.text).toEqual(typeof first === 'string' ? first : first.text);
  expect(suite.recordings()).toHaveLength(1);
});

test('a cassette that cannot be written any more is reported, and requests continue', async () => {
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const { cassette, gateway } = await suite.open('record');
  rmSync(suite.folder, { recursive: true });
  expect((await ask(gateway, hello)).response.status).toBe(200);
  await cassette.close();
  expect(cassette.summary).toMatchObject({ recorded: 0, failed: 1 });
  expect(suite.problems).toEqual([
    expect.stringMatching(/^The recording 0001-\S+ could not be written to .*: there is no such file \(ENOENT\)\.$/),
  ]);
});

test('a request that Sluice refuses is not recorded', async () => {
  const { cassette, gateway } = await suite.open('record');
  const { response } = await ask(gateway, { messages: [] });
  expect(response.status).toBe(400);
  await cassette.close();
  expect(cassette.summary).toMatchObject({ recorded: 0, unrecorded: 1 });
  expect(suite.recordings()).toEqual([]);
});

test('a partial recording left by a crash is not used', async () => {
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const recorded = await suite.open('record');
  await ask(recorded.gateway, hello);
  await recorded.cassette.close();
  writeFileSync(join(suite.folder, '0002-chat-completions-abcdef.json.tmp-0123456789abcdef'), '{ "version": 1, "requ');
  const { cassette, gateway } = await suite.open('replay');
  expect((await ask(gateway, hello)).response.headers.get('x-sluice-replay')).toBe('hit');
  expect(cassette.summary.unused).toEqual([]);
});

test('the pieces of a stream are replayed at the recorded times if the pace asks for that', async () => {
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const recorded = await suite.open('record');
  await ask(recorded.gateway, { ...hello, stream: true });
  await recorded.cassette.close();
  const [[name, exchange] = ['', null]] = suite.recordings();
  const events = [
    { afterMs: 1, data: { first: true } },
    { afterMs: 400, data: { last: true } },
  ];
  const response = { ...exchange?.response, headers: { 'content-type': 'text/event-stream' }, body: { events } };
  writeFileSync(join(suite.folder, name), JSON.stringify({ ...exchange, response }));
  const { gateway } = await suite.open('replay', {}, 1);
  const startMs = performance.now();
  const { text } = await ask(gateway, { ...hello, stream: true });
  expect(text).toBe('data: {"first":true}\n\ndata: {"last":true}\n\n');
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(399);
});

test('an answer whose client disconnects is recorded as far as it was sent', async () => {
  const begun = Promise.withResolvers<void>();
  suite.upstream.answer((_request, response) => {
    eventStream(response);
    response.write(chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Hello' }), () => begun.resolve());
  });
  const { cassette, gateway } = await suite.open('record');
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
  const [[, exchange] = ['', null]] = suite.recordings();
  expect(exchange?.response.ended).toBe('client-left');
  expect(JSON.stringify(exchange?.response.body)).toContain('"delta":{"content":"Hello"}');
});
