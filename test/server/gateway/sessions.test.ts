/** Sessions, tested from outside: which requests belong together, and what happens to requests of a stopped session. */
import { rmSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { type AgentRequest, claudeCode, codex, olderClaudeCode, opencode } from '../../support/installed-programs.ts';
import { geminiAt } from '../../support/sdk-clients.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let folder: string;
const otherKey = 'sk-of another';

beforeAll(async () => {
  upstream = await startUpstream();
  folder = temporaryFolder();
  await start();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  let made = 0;
  upstream.seen.length = 0;
  upstream.answer(({ url }, response) => {
    const isResponse = url.endsWith('/responses');
    json(response, isResponse ? responseObject(`resp_${Date.now()}_${++made}`) : completion({ content: 'Hello' }));
  });
});

async function start(): Promise<void> {
  gateway = await startGateway({
    folder,
    config: {
      settings: { sessions: 'all' },
      providers: [mainProvider(upstream.baseUrl)],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'k2', group: 'default', hash: hashOf(otherKey) },
      ],
    },
  });
}

const responseObject = (id: string) => ({
  id,
  object: 'response',
  status: 'completed',
  model: 'gpt-x',
  output: [],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});

/** Sends a request; resolves with its id. */
async function send({ path, headers, body }: AgentRequest, key = testKey): Promise<string> {
  const response = await gateway.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return response.headers.get('x-sluice-request-id') ?? '';
}

async function sessionOf(requestId: string) {
  await gateway.record(requestId);
  return (await gateway.gateway.query({ type: 'request', id: requestId })).request.session;
}

const idOf = async (request: AgentRequest, key?: string) => (await sessionOf(await send(request, key)))?.id ?? null;

const chat = (...messages: object[]): AgentRequest => ({
  path: '/chat/completions',
  headers: {},
  body: { model: 'gpt-x', messages },
});
const asks = (content: string) => ({ role: 'user', content });
const answers = { role: 'assistant', content: 'Hello' };

describe('requests belong together', () => {
  test.each([
    ['Claude Code', claudeCode('845cb3f5'), claudeCode('845cb3f5'), claudeCode('00000000')],
    ['an older Claude Code', olderClaudeCode('11b3f5'), olderClaudeCode('11b3f5'), olderClaudeCode('000001')],
    ['Codex', codex('01a2057f'), codex('01a2057f'), codex('00000002')],
    ['opencode', opencode('ses_dfa8'), opencode('ses_dfa8'), opencode('ses_0000')],
  ])('that %s sends in one session', async (_name, first, second, other) => {
    const id = await idOf(first);
    expect(id).toMatch(/^ses_[0-9a-f]{16}$/);
    expect(await idOf(second)).toBe(id);
    expect(await idOf(other)).not.toBe(id);
  });

  test('those of subagents too, in threads of their own', async () => {
    for (const [own, subagent] of [
      [claudeCode('s1'), claudeCode('s1', 'agent-1')],
      [codex('s2'), codex('s2', 'thread-2')],
      [opencode('s3'), opencode('child', 's3')],
    ] as const) {
      const main = await sessionOf(await send(own));
      const sub = await sessionOf(await send(subagent));
      expect(sub?.id, own.path).toBe(main?.id);
      expect(sub?.thread).not.toBe(main?.thread);
    }
  });

  test('never of two keys, whatever their clients call the session', async () => {
    expect(await idOf(codex('same'), testKey)).not.toBe(await idOf(codex('same'), otherKey));
  });

  test('that name a session of their own, whose name is shown without the key in it', async () => {
    const named = { ...chat(asks('Hi')), headers: { 'x-sluice-session': `nightly run ${testKey}` } };
    const id = await idOf(named);
    expect(await idOf({ ...chat(asks('Bye')), headers: named.headers })).toBe(id);
    expect(upstream.seen.map(({ headers }) => headers['x-sluice-session'])).toEqual([undefined, undefined]);
    const { session } = await gateway.gateway.query({ type: 'session', id: id ?? '' });
    expect(session.name).toMatch(/^nightly run /);
    expect(session.name).not.toContain(testKey);
  });

  test('whose client names them for itself, and that name is not kept', async () => {
    const id = await idOf(codex('a name of its own'));
    const kept = await gateway.gateway.query({ type: 'session', id: id ?? '' });
    expect(kept.session.name).toBeNull();
    expect(JSON.stringify(kept)).not.toContain('a name of its own');
  });

  test('that continue a conversation, of which the first request joins', async () => {
    const first = await send(chat(asks('One of many'), answers, asks('More')));
    expect(await sessionOf(first)).toBeNull();
    const second = await send(
      chat(asks('One of many'), answers, asks('More'), answers, { role: 'tool', content: '1' }),
    );
    const session = await sessionOf(second);
    expect(session).toMatchObject({ step: 'tools', tools: [{ name: null, bytes: 3, hasFailed: false }] });
    await expect.poll(() => sessionOf(first)).toEqual({ ...session, step: 'prompt', tools: [] });
  });

  test('but not requests that are merely equal, or that hold no conversation', async () => {
    expect(await idOf(chat(asks('Again')))).toBeNull();
    expect(await idOf(chat(asks('Again')))).toBeNull();
    const embedding = { path: '/embeddings', headers: {}, body: { model: 'gpt-x', input: ['a', 'b'] } };
    expect(await idOf(embedding)).toBeNull();
    expect(await idOf({ ...embedding, body: { model: 'gpt-x', input: ['a', 'b', 'c'] } })).toBeNull();
  });

  test('that continue a stored response', async () => {
    const { client } = gateway;
    const one = await client.responses.create({ model: 'gpt-x', input: 'Hi' }).withResponse();
    const two = await client.responses
      .create({ model: 'gpt-x', input: 'And?', previous_response_id: one.data.id })
      .withResponse();
    const three = await client.responses
      .create({ model: 'gpt-x', input: 'And?', previous_response_id: two.data.id })
      .withResponse();
    const ids = [one, two, three].map(({ response }) => response.headers.get('x-sluice-request-id') ?? '');
    const id = (await sessionOf(ids[2] ?? ''))?.id;
    expect(id).toBeDefined();
    expect((await sessionOf(ids[1] ?? ''))?.id).toBe(id);
    await expect.poll(async () => (await sessionOf(ids[0] ?? ''))?.id).toBe(id);
  });
});

test('a session shows its turns', async () => {
  const run = codex('turns');
  const first = run.body.input as object[];
  const inputs = [
    first,
    [
      ...first,
      { type: 'function_call', call_id: 'c', name: 'f' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ],
    [...first, asks('Next')],
  ];
  let last = '';
  for (const input of inputs) last = await send({ ...run, body: { ...run.body, input } });
  const id = (await sessionOf(last))?.id ?? '';
  const full = await gateway.gateway.query({ type: 'session', id });
  expect(full.session).toMatchObject({ requests: 3, turns: 2, keyId: 'k1', client: run.headers['user-agent'] });
  expect(full.requests.map(({ turn, isToolResult, tools }) => [turn, isToolResult, tools])).toEqual([
    [1, false, []],
    [1, true, [{ name: 'f', bytes: 3, hasFailed: false }]],
    [2, false, []],
  ]);
  const { sessions } = await gateway.gateway.query({ type: 'sessions', limit: 1 });
  expect(sessions).toEqual([full.session]);
});

describe('a stopped session', () => {
  const headers = { 'x-sluice-session': 'runaway' };
  const hello = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'Hi' }] };
  let id: string;

  beforeAll(async () => {
    id = (await idOf({ ...chat(asks('Hi')), headers })) ?? '';
    await gateway.gateway.execute({ type: 'session.stop', id });
  });

  test('is refused by each API in its own shape, and no client tries again', async () => {
    upstream.seen.length = 0;
    const message = expect.stringContaining(`This session (${id}) was stopped in Sluice.`);
    const openai = new OpenAI({ baseURL: gateway.baseUrl, apiKey: testKey, maxRetries: 2 });
    const refused = await openai.chat.completions.create(hello, { headers }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refused).toMatchObject({ code: 'session_stopped', message });
    const raw = await gateway.fetch('/chat/completions', { method: 'POST', headers, body: JSON.stringify(hello) });
    expect(raw.headers.get('x-should-retry')).toBe('false');
    const claude = new Anthropic({ baseURL: gateway.origin, apiKey: testKey, maxRetries: 2 });
    await expect(claude.messages.create({ ...hello, max_tokens: 9 }, { headers })).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error', message } },
    });
    const gemini = geminiAt(gateway).models.generateContent({
      model: 'gpt-x',
      contents: 'Hi',
      config: { httpOptions: { headers } },
    });
    await expect(gemini).rejects.toMatchObject({ status: 400, message });
    expect(upstream.seen).toEqual([]);
    const { session } = await gateway.gateway.query({ type: 'session', id });
    expect(session.stoppedAt).toBeGreaterThan(0);
    await expect
      .poll(async () => (await gateway.gateway.query({ type: 'session', id })).session)
      .toMatchObject({ requests: 5, failed: 0, refused: 4 });
  });

  test('does not affect other sessions of its key', async () => {
    await send({ ...chat(asks('Hi')), headers: { 'x-sluice-session': 'other' } });
    await send(chat(asks('Hi')));
  });

  test('stays stopped over a restart until it is resumed', async () => {
    await gateway.stop();
    await start();
    const again = () => gateway.client.chat.completions.create(hello, { headers });
    await expect(again()).rejects.toMatchObject({ code: 'session_stopped' });
    await gateway.gateway.execute({ type: 'session.resume', id });
    await expect(again()).resolves.toMatchObject({ object: 'chat.completion' });
  });

  test('must be a known one', async () => {
    const unknown = { type: 'session.stop', id: 'ses_0000000000000000' } as const;
    await expect(gateway.gateway.execute(unknown)).rejects.toMatchObject({ code: 'not_found' });
    await expect(gateway.gateway.execute({ type: 'session.stop', id: 'x' })).rejects.toMatchObject({
      code: 'invalid_command',
    });
  });
});
