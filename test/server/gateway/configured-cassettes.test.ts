/** Cassettes configured for groups and keys of a running gateway. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import http, { type ServerResponse } from 'node:http';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { OpenCassette } from '../../../server/cassettes/deck.ts';
import type { CassetteChoice } from '../../../server/contract/cassette.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { ask, CassetteSuite, hello } from '../../support/cassette-suite.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, type TestGateway, type TestPorts, testKey } from '../../support/gateway.ts';
import { completion } from '../../support/strict-chat.ts';
import { json } from '../../support/upstream.ts';
import { startControlGateway } from '../control/control-gateway.ts';

const suite = new CassetteSuite().use();

afterEach(() => vi.restoreAllMocks());

const record = (folder = suite.folder): CassetteChoice => ({ mode: 'record', folder });
const replay = (folder = suite.folder): CassetteChoice => ({ mode: 'replay', folder });

interface Choices {
  group?: CassetteChoice | null;
  key?: CassetteChoice | 'off';
}

/** A gateway with one provider, whose answers are numbered. */
async function start({ group = null, key }: Choices = {}, ports: TestPorts = {}): Promise<TestGateway> {
  let count = 0;
  suite.upstream.answer((_request, response) => json(response, completion({ content: `Answer ${++count}` })));
  const config: Partial<ConfigInput> = {
    providers: [mainProvider(suite.upstream.baseUrl)],
    groups: [{ id: 'default', cassette: group }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), ...(key && { cassette: key }) }],
  };
  const secrets = { 'provider/main/c1': 'upstream-secret' };
  return suite.keep(await startControlGateway({ config, secrets, ports }));
}

async function answerOf(gateway: TestGateway, body: object = hello) {
  const { response, text } = await ask(gateway, body);
  return { replay: response.headers.get('x-sluice-replay'), answer: /Answer \d/.exec(text)?.[0] ?? text };
}

/** The view of its only cassette. */
const viewOf = async ({ gateway }: TestGateway) => (await gateway.query({ type: 'cassettes' }))[0];

const setGroup = ({ gateway }: TestGateway, cassette: CassetteChoice | null) =>
  gateway.execute({ type: 'group.put', group: { id: 'default', cassette } });
const setKey = ({ gateway }: TestGateway, cassette: CassetteChoice | 'off' | null) =>
  gateway.execute({ type: 'key.update', id: 'k1', changes: { cassette } });

test('a group records and then replays what was recorded a moment ago, and the rows say so', async () => {
  const gateway = await start();
  await setGroup(gateway, record());
  expect(await answerOf(gateway)).toEqual({ replay: null, answer: 'Answer 1' });
  expect(await gateway.record()).toMatchObject({ cassette: 'recorded', provider: 'main' });
  await setGroup(gateway, replay());
  const { response, text } = await ask(gateway, hello);
  expect([response.headers.get('x-sluice-replay'), /Answer \d/.exec(text)?.[0]]).toEqual(['hit', 'Answer 1']);
  const row = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  expect(row).toMatchObject({ cassette: 'replayed', provider: null, costUsd: 0 });
  await setGroup(gateway, null);
  const live = await ask(gateway, hello);
  expect(live.text).toContain('Answer 2');
  expect((await gateway.record(live.response.headers.get('x-sluice-request-id') ?? '')).cassette).toBeNull();
});

test('a request that has no recording asks no provider in replay, and is recorded in replay-or-record', async () => {
  const gateway = await start({ group: replay() });
  expect((await ask(gateway, hello)).response.status).toBe(404);
  expect(suite.upstream.seen).toEqual([]);
  await setGroup(gateway, { mode: 'replay-or-record', folder: suite.folder });
  expect(await answerOf(gateway)).toEqual({ replay: null, answer: 'Answer 1' });
  expect(await viewOf(gateway)).toMatchObject({ recordings: 0, hits: 0, misses: 0 });
  await eventually(async () => (await viewOf(gateway))?.recorded === 1);
});

describe('the cassette of a key', () => {
  test('overrides that of its group, even if it is off', async () => {
    const gateway = await start({ group: replay() });
    await setKey(gateway, 'off');
    expect(await answerOf(gateway)).toEqual({ replay: null, answer: 'Answer 1' });
    const own = join(suite.folder, 'own');
    await setKey(gateway, record(own));
    await answerOf(gateway);
    await setKey(gateway, replay(own));
    expect(await answerOf(gateway)).toEqual({ replay: 'hit', answer: 'Answer 2' });
    await setKey(gateway, null);
    expect((await ask(gateway, hello)).response.status).toBe(404);
  });

  test('and of its group are overridden by the cassette of a run', async () => {
    const run = join(suite.folder, 'run');
    const cassette = await OpenCassette.open({ folder: run, mode: 'record', pace: 0, problem: () => {} });
    const gateway = await start({ group: replay(), key: replay() }, { cassette });
    expect(await answerOf(gateway)).toEqual({ replay: null, answer: 'Answer 1' });
    await cassette.close();
    expect(cassette.summary.recorded).toBe(1);
  });
});

test('rewound, a cassette starts over with the first of equal recordings and sees new files', async () => {
  const gateway = await start({ group: record() });
  await answerOf(gateway);
  await answerOf(gateway);
  await setGroup(gateway, replay());
  const answers = async () => [(await answerOf(gateway)).answer, (await answerOf(gateway)).answer];
  expect(await answers()).toEqual(['Answer 1', 'Answer 2']);
  expect(await answers()).toEqual(['Answer 2', 'Answer 2']);
  const [[name, exchange] = ['', null]] = suite.recordings();
  writeFileSync(join(suite.folder, name), JSON.stringify(exchange).replace('Answer 1', 'Answer 9'));
  await gateway.gateway.execute({ type: 'cassette.rewind' });
  expect(await answers()).toEqual(['Answer 9', 'Answer 2']);
  expect(await viewOf(gateway)).toEqual({
    ...{ mode: 'replay', folder: suite.folder, recordings: 2, problem: null },
    ...{ hits: 2, misses: 0, recorded: 0, failed: 0 },
  });
});

describe('a cassette that cannot be used', () => {
  const damage = () => writeFileSync(join(suite.folder, '0001-chat-000000.json'), '{ "version": 1, "request": 5 }');
  const reason = () => `${join(suite.folder, '0001-chat-000000.json')} cannot be used: request: `;

  test('is refused where it is chosen, with the name of its file and field; other changes are not', async () => {
    const gateway = await start();
    damage();
    const refused = { code: 'invalid_value', param: 'cassette', message: expect.stringContaining(reason()) };
    await expect(setGroup(gateway, replay())).rejects.toMatchObject(refused);
    await expect(setKey(gateway, record())).rejects.toMatchObject(refused);
    const missing = join(suite.folder, 'none');
    await expect(setKey(gateway, replay(missing))).rejects.toThrow(
      `The cassette ${missing} cannot be read: there is no such folder.`,
    );
    await expect(setKey(gateway, replay('cassettes'))).rejects.toThrow('use an absolute path');
    const [key] = await gateway.gateway.query({ type: 'keys' });
    expect(key?.cassette).toBeNull();
    rmSync(join(suite.folder, '0001-chat-000000.json'));
    await setGroup(gateway, replay());
    damage();
    await gateway.gateway.execute({ type: 'group.put', group: { id: 'default', name: 'Tests', cassette: replay() } });
  });

  test('answers requests with that reason in replay, in the shape of the client’s API', async () => {
    damage();
    const gateway = await start({ group: replay() });
    const { response, text } = await ask(gateway, hello);
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([503, 'false']);
    expect(JSON.parse(text).error).toMatchObject({
      code: 'cassette_unusable',
      message: expect.stringContaining(reason()),
    });
    expect(suite.upstream.seen).toEqual([]);
  });

  test('harms no request that should only be recorded, and is reported once', async () => {
    damage();
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
    const gateway = await start({ group: record() }, { log });
    expect(await answerOf(gateway)).toEqual({ replay: null, answer: 'Answer 1' });
    expect((await gateway.record()).cassette).toBeNull();
    await answerOf(gateway);
    expect(lines.filter((line) => line.startsWith(reason()))).toHaveLength(1);
    expect(await viewOf(gateway)).toMatchObject({ recordings: null, problem: expect.stringContaining(reason()) });
  });

  test('because its folder is gone is reported once until something is recorded again', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
    const gateway = await start({ group: record() }, { log });
    await answerOf(gateway);
    await eventually(async () => (await viewOf(gateway))?.recorded === 1);
    rmSync(suite.folder, { recursive: true });
    await answerOf(gateway);
    await answerOf(gateway);
    await eventually(async () => (await viewOf(gateway))?.failed === 2);
    expect((await viewOf(gateway))?.problem).toMatch(/could not be written/);
    const told = () => lines.filter((line) => line.includes('could not be written'));
    expect(told()).toHaveLength(1);
    mkdirSync(suite.folder);
    await answerOf(gateway);
    await eventually(async () => (await viewOf(gateway))?.recorded === 2);
    expect((await viewOf(gateway))?.problem).toBeNull();
    expect(told()).toHaveLength(1);
  });
});

test('a client that leaves while its cassette is being opened is recorded as gone', async () => {
  const open = OpenCassette.open.bind(OpenCassette);
  const isOpening = Promise.withResolvers<void>();
  const mayOpen = Promise.withResolvers<void>();
  vi.spyOn(OpenCassette, 'open').mockImplementation(async (options) => {
    isOpening.resolve();
    await mayOpen.promise;
    return open(options);
  });
  const gateway = await start({ group: replay() });
  const received = responseOfNextRequest();
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
  const client = http.request(`${gateway.baseUrl}/chat/completions`, { method: 'POST', agent: false, headers });
  client.on('error', () => {}).end(JSON.stringify(hello));
  const [response] = await Promise.all([received, isOpening.promise]);
  const closed = once(response, 'close');
  client.destroy();
  await closed;
  mayOpen.resolve();
  expect(await gateway.record()).toMatchObject({ outcome: 'client-gone', attempts: [] });
});

/** The server's side of the next request that this process receives. */
function responseOfNextRequest(): Promise<ServerResponse> {
  const channel = 'http.server.request.start';
  return new Promise((resolve) => {
    const receive = (message: unknown) => {
      unsubscribe(channel, receive);
      resolve((message as { response: ServerResponse }).response);
    };
    subscribe(channel, receive);
  });
}

test('a realtime session is refused in replay, and no provider is asked', async () => {
  const gateway = await start({ group: replay() });
  const url = `${gateway.baseUrl.replace('http', 'ws')}/realtime?model=gpt-x`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${testKey}` } });
  const status = await new Promise((resolve) => {
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
    socket.on('error', resolve);
    socket.on('open', () => resolve('open'));
  });
  expect(status).toBe(404);
  expect((await gateway.record()).errorCode).toBe('replay_miss');
  expect(suite.upstream.seen).toEqual([]);
});

test('a fault on purpose meets the client of a replayed answer, too', async () => {
  const gateway = await start({ group: record() });
  await answerOf(gateway);
  await setGroup(gateway, replay());
  await gateway.gateway.execute({ type: 'faults.start', group: 'default', rules: ['status;code=500;first=1'] });
  expect((await ask(gateway, hello)).response.status).toBe(500);
  expect(await answerOf(gateway)).toEqual({ replay: 'hit', answer: 'Answer 1' });
});
