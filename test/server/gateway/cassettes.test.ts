/** Requests that are recorded in a cassette, and replayed from it without a provider. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CassetteMode, OpenCassette } from '../../../server/cassettes/desk.ts';
import type { RecordedExchange } from '../../../server/cassettes/format.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import { completion, sendStream, streamOf } from '../../support/strict-chat.ts';
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
