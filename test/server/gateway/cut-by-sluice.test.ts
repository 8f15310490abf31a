/**
 * Where Sluice itself may end an answer: what the client is told in its API's form, what the ledger says, and that nobody is
 * asked again. And where it must not: for what an administrator does while an answer runs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestRecord } from '../../../server/contract/ledger.ts';
import { begun, eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import {
  billed,
  type Halt,
  startThinkingUpstream,
  type ThinkingApi,
  type ThinkingUpstream,
  thinkingProviders,
} from '../../support/thinking-upstream.ts';

type Client = 'chat' | 'responses' | 'messages' | 'gemini' | 'gemini array';

type Pair = readonly [Client, ThinkingApi];
const pairs: readonly Pair[] = [
  ['chat', 'chat'],
  ['responses', 'responses'],
  ['messages', 'messages'],
  ['gemini', 'gemini'],
  ['gemini array', 'gemini'],
  ['chat', 'messages'],
  ['chat', 'converse'],
  ['responses', 'chat'],
  ['responses', 'gemini'],
  ['messages', 'chat'],
  ['messages', 'responses'],
  ['gemini', 'chat'],
  ['gemini array', 'messages'],
];

const running: (() => Promise<void>)[] = [];
const finished: RequestRecord[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
  finished.length = 0;
});

const most = 6_000;
const hard = { budgets: [{ unit: 'usd', amount: 10_000, per: 'day', hard: true } as const] };
const otherKeys = ['disabled', 'revoked', 'expired', 'of a deleted group'];

interface Started {
  gateway: TestGateway;
  thinking: ReadonlyMap<ThinkingApi, ThinkingUpstream>;
}

const apis = [...new Set(pairs.map(([, api]) => api))];

/** A provider of each API. */
async function start(policy: object = {}): Promise<Started> {
  const thinking = new Map<ThinkingApi, ThinkingUpstream>();
  const providers: object[] = [];
  for (const api of apis) {
    const { path, config, model } = thinkingProviders[api];
    const each = await startThinkingUpstream(api);
    running.push(() => each.upstream.stop());
    thinking.set(api, each);
    providers.push(mainProvider(each.upstream.origin + path, { ...config, id: api, models: [model] }));
  }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cut-'));
  running.push(async () => rmSync(folder, { recursive: true, force: true }));
  const named = <T>(entry: (api: ThinkingApi) => [string, T]) => Object.fromEntries(apis.map(entry));
  const gateway = await startGateway({
    folder,
    config: {
      providers: providers as ConfigInput['providers'],
      groups: ['default', 'deleted'].map((id) => ({ id, policy })),
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'budgeted', group: 'default', hash: hashOf('budgeted'), limits: hard },
        ...otherKeys.map((name, index) => ({
          id: `other-${index}`,
          group: name.endsWith('group') ? 'deleted' : 'default',
          hash: hashOf(name),
        })),
      ],
      settings: {
        prices: named((api) => [`${api}/${thinkingProviders[api].model}`, { input: 1_000, output: 1_000 }]),
      },
    },
    secrets: named((api) => [`provider/${api}/c1`, thinkingProviders[api].secret]),
    ports: { logRequest: (record) => void finished.push(record) },
  });
  running.push(() => gateway.stop());
  return { gateway, thinking };
}

const askedOf = ({ thinking }: Started) =>
  [...thinking.values()].reduce((sum, { upstream }) => sum + upstream.seen.length, 0);

function halt({ thinking }: Started, at: Halt): void {
  for (const each of thinking.values()) each.halt = at;
}

const messages = [{ role: 'user', content: 'Why?' }];
const contents = [{ role: 'user', parts: [{ text: 'Why?' }] }];

function callOf(client: Client, model: string, stream: boolean): { path: string; body: object } {
  const gemini = (verb: string) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:${verb}`,
    body: { contents, generationConfig: { maxOutputTokens: most } },
  });
  switch (client) {
    case 'chat':
      return { path: '/v1/chat/completions', body: { model, messages, stream, max_completion_tokens: most } };
    case 'responses':
      return { path: '/v1/responses', body: { model, input: 'Why?', stream, max_output_tokens: most } };
    case 'messages':
      return { path: '/v1/messages', body: { model, messages, stream, max_tokens: most } };
    case 'gemini':
      return gemini(stream ? 'streamGenerateContent?alt=sse' : 'generateContent');
    case 'gemini array':
      return gemini(stream ? 'streamGenerateContent' : 'generateContent');
  }
}

interface Asked {
  key?: string;
  stream?: boolean;
  session?: string;
}

async function ask({ gateway }: Started, [client, api]: Pair, { key = testKey, stream = true, session }: Asked = {}) {
  const { path, body } = callOf(client, thinkingProviders[api].model, stream);
  const response = await fetch(gateway.origin + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(session && { 'x-sluice-session': session }),
    },
    body: JSON.stringify(body),
  });
  const id = response.headers.get('x-sluice-request-id') ?? '';
  let soFar = '';
  const read = async () => {
    for await (const piece of response.body ?? []) soFar += Buffer.from(piece).toString();
    return soFar;
  };
  return { status: response.status, id, text: begun(read()), soFar: () => soFar };
}

const rowOf = (id: string) => eventually(() => finished.find((row) => row.id === id) ?? null);

type Code = 'upstream_timeout' | 'shutting_down';
const names: Record<Code, { words: string; claude: string; google: string; http: number }> = {
  upstream_timeout: {
    ...{ words: 'did not finish its answer in time', http: 504 },
    ...{ claude: 'timeout_error', google: 'DEADLINE_EXCEEDED' },
  },
  shutting_down: {
    ...{ words: 'Sluice is shutting down', http: 503 },
    ...{ claude: 'overloaded_error', google: 'UNAVAILABLE' },
  },
};

/** The beginning of the answer, and then the error as an event of the client's API. */
function expectTold(client: Client, text: string, code: Code): void {
  const { words, claude, google, http } = names[code];
  expect(text).toContain('The');
  expect(text).not.toContain(' end');
  switch (client) {
    case 'chat':
      expect(text).toMatch(new RegExp(`data: \\{"error":\\{"message":".*${words}.*"code":"${code}"\\}\\}\\n\\n$`));
      break;
    case 'responses':
      expect(text).toMatch(new RegExp(`event: error\\ndata: .*${words}.*"code":"${code}"`));
      expect(text).toMatch(/event: response\.failed\ndata: .*"status":"failed".*\n\n$/);
      break;
    case 'messages':
      expect(text).toMatch(
        new RegExp(`event: error\\ndata: \\{"type":"error","error":\\{"type":"${claude}",.*${words}.*\\n\\n$`),
      );
      break;
    case 'gemini':
      expect(text).toMatch(
        new RegExp(`data: \\{"error":\\{"code":${http},.*${words}.*"status":"${google}"\\}\\}\\s+$`),
      );
      break;
    case 'gemini array':
      expect(JSON.parse(text).at(-1)).toEqual({
        error: { code: http, message: expect.stringContaining(words), status: google },
      });
  }
}

const wholeEnd: Record<Client, RegExp> = {
  chat: /"finish_reason":"stop"[\s\S]*data: \[DONE\]\n\n$/,
  responses: /event: response\.completed\ndata: .*\n\n$/,
  messages: /"stop_reason":"end_turn"[\s\S]*event: message_stop\ndata: .*\n\n$/,
  gemini: /"finishReason":"STOP"/,
  'gemini array': /"finishReason":\s*"STOP"[\s\S]*\]\s*$/,
};

function expectWhole(client: Client, text: string): void {
  expect(text).toContain('The');
  expect(text).toContain(' end');
  expect(text).not.toMatch(/"?error"?:\s*[{"]/);
  expect(text).toMatch(wholeEnd[client]);
}

/** For all pairs at the same time, since most of it is waiting. */
const forAllPairs = (check: (pair: Pair, name: string) => Promise<void>) =>
  Promise.all(pairs.map((pair) => check(pair, `a client of ${pair[0]}, a provider of ${pair[1]}`)));

describe('the limit of a whole attempt', () => {
  test('ends an answer with an error in the form of its API, and nobody is asked again', async () => {
    const started = await start({ timeouts: { totalMs: 1_500 } });
    halt(started, 'first');
    const cut = async (pair: Pair, name: string, key: string) => {
      const { id, text } = await ask(started, pair, { key });
      expectTold(pair[0], await text, 'upstream_timeout');
      const row = await rowOf(id);
      expect(row, name).toMatchObject({
        ...{ outcome: 'stream-broken', status: 200, errorCode: 'upstream_timeout' },
        attempts: [{ failure: 'stream-broken' }],
      });
      expect(row.costUsd, name).toBeGreaterThan(0);
      return row;
    };
    await forAllPairs(async (pair, name) => {
      expect(['estimated', 'partial'], name).toContain((await cut(pair, name, testKey)).usageCertainty);
    });
    await forAllPairs(async (pair, name) => {
      const row = await cut(pair, name, 'budgeted');
      expect(row, name).toMatchObject({ usageCertainty: 'reserved', usage: { outputTokens: most } });
    });
    expect(askedOf(started)).toBe(2 * pairs.length);
  });

  test('ends the wait for a whole answer with 504, and nobody is asked again', async () => {
    const started = await start({ timeouts: { totalMs: 1_000 } });
    for (const { upstream } of started.thinking.values()) upstream.answer(() => {});
    const { claude, google, http } = names.upstream_timeout;
    const named = { chat: undefined, responses: undefined, messages: claude, gemini: google, 'gemini array': google };
    await forAllPairs(async (pair, name) => {
      const { status, id, text } = await ask(started, pair, { key: 'budgeted', stream: false });
      expect(status, name).toBe(http);
      expect(await text, name).toContain(`"${named[pair[0]] ?? 'upstream_timeout'}"`);
      expect(await rowOf(id), name).toMatchObject({
        ...{ outcome: 'error', status, errorCode: 'upstream_timeout', usageCertainty: 'reserved' },
        attempts: [{ failure: 'silent' }],
      });
    });
    expect(askedOf(started)).toBe(pairs.length);
  });
});

test('stopping tells clients what becomes of their answers, unless the model has finished them', async () => {
  const started = await start();
  halt(started, 'first');
  const cut = await Promise.all(pairs.map((pair) => ask(started, pair, { key: 'budgeted' })));
  await eventually(() => cut.every(({ soFar }) => soFar().includes('The')));
  halt(started, 'finish');
  const done = await Promise.all(pairs.map((pair) => ask(started, pair, { key: 'budgeted' })));
  // In one write with the finish reason.
  await eventually(() => done.every(({ soFar }) => soFar().includes(' end')));
  await started.gateway.gateway.stop(0);
  for (const [index, pair] of pairs.entries()) {
    const [cutOff, whole] = [cut[index], done[index]];
    expectTold(pair[0], (await cutOff?.text) ?? '', 'shutting_down');
    expect(await rowOf(cutOff?.id ?? ''), String(pair)).toMatchObject({
      ...{ outcome: 'stream-broken', status: 200, errorCode: 'shutting_down' },
      ...{ usageCertainty: 'reserved', usage: { outputTokens: most } },
      attempts: [{ failure: null }],
    });
    expectWhole(pair[0], (await whole?.text) ?? '');
    const row = await rowOf(whole?.id ?? '');
    expect(row, String(pair)).toMatchObject({ outcome: 'ok', status: 200, errorCode: null });
    expect(row.attempts, String(pair)).toMatchObject([{ failure: null }]);
    expect(['reported', 'reserved'], String(pair)).toContain(row.usageCertainty);
    // It was not told the usage, or all of it.
    expect(row.costUsd, String(pair)).toBeGreaterThan(5);
  }
  expect(askedOf(started)).toBe(2 * pairs.length);
});

test('nothing that an administrator does ends a running answer', async () => {
  const started = await start();
  const { gateway, thinking } = started;
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  for (const each of thinking.values()) each.hold = promise;
  const askAll = (pair: Pair) => [
    ask(started, pair, { session: 'one' }),
    ...otherKeys.map((key) => ask(started, pair, { key })),
  ];
  const answers = await Promise.all(pairs.map((pair) => Promise.all(askAll(pair))));
  const sessions = await eventually(async () => {
    const found = await gateway.gateway.query({ type: 'sessions' });
    return found.sessions.length > 0 && found.sessions;
  });
  const { execute } = gateway.gateway;
  for (const { id } of sessions) await execute({ type: 'session.stop', id });
  await execute({ type: 'key.update', id: 'other-0', changes: { enabled: false } });
  await execute({ type: 'key.revoke', id: 'other-1' });
  await execute({ type: 'key.update', id: 'other-2', changes: { expiresAt: '2020-01-01T00:00:00Z' } });
  await execute({ type: 'key.revoke', id: 'other-3' });
  await execute({ type: 'group.remove', id: 'deleted' });
  await forAllPairs(async (pair, name) => {
    for (const { status } of await Promise.all(askAll(pair))) expect([400, 401, 403], name).toContain(status);
  });
  for (const id of apis) await execute({ type: 'provider.remove', id });
  goOn();
  for (const [index, pair] of pairs.entries()) {
    for (const { status, id, text } of answers[index] ?? []) {
      expect(status, String(pair)).toBe(200);
      expectWhole(pair[0], await text);
      expect(await rowOf(id), String(pair)).toMatchObject({
        ...{ outcome: 'ok', errorCode: null, usage: billed, usageCertainty: 'reported' },
        attempts: [{ failure: null }],
      });
    }
  }
  expect(askedOf(started)).toBe(pairs.length * (1 + otherKeys.length));
});
