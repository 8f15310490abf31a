/**
 * The budget of a session, tested from outside: which clients are notified when, and what happens to later requests.
 */
import { rmSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SessionBudget } from '../../../server/contract/limit-settings.ts';
import type { SessionBudgetReached } from '../../../server/contract/session-views.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

/** Cost of each request in dollars: a million tokens of input. */
const requestUsd = 2;

let upstream: ScriptedUpstream;
let sluice: TestGateway;
let folder: string;
let notices: SessionBudgetReached[];

beforeEach(async () => {
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
  upstream = await startUpstream((_request, response) =>
    json(response, { ...completion({ content: 'Hello' }), usage }),
  );
  folder = temporaryFolder();
  notices = [];
});
afterEach(async () => {
  await sluice.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(sessionBudget: Partial<SessionBudget>, sessions: 'named' | 'all' = 'named'): Promise<void> {
  sluice = await startGateway({
    folder,
    config: {
      settings: { sessions, sessionBudget, prices: { 'gpt-x': { input: requestUsd, output: 0 } } },
      providers: [mainProvider(upstream.baseUrl)],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    },
  });
  sluice.gateway.onEvent(({ event }) => {
    if (event.type === 'session-budget-reached') notices.push(event.notice);
  });
}

async function restart(budget: Partial<SessionBudget>): Promise<void> {
  await sluice.stop();
  await start(budget);
}

const hello = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'Hi' }] };

/** Resolves with the status once the request is recorded. */
async function ask(session: string | null = 'run', messages: object[] = hello.messages): Promise<number> {
  const response = await sluice.fetch('/chat/completions', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${testKey}`,
      'user-agent': 'claude-cli/2.1.197 (external, cli)',
      ...(session !== null && { 'x-sluice-session': session }),
    },
    body: JSON.stringify({ ...hello, messages }),
  });
  await response.arrayBuffer();
  await sluice.record(response.headers.get('x-sluice-request-id') ?? '');
  return response.status;
}

const listed = async (filter: object = {}) => (await sluice.gateway.query({ type: 'sessions', filter })).sessions;

test('a session that has used up its budget is refused, and others are not', async () => {
  await start({ stopAtUsd: 4 });
  expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 400]);
  expect(await ask('another')).toBe(200);
  expect(upstream.seen).toHaveLength(3);
  expect(await listed({ stopped: true })).toMatchObject([{ isOverBudget: true, stoppedAt: null, budgetUsedUsd: 4 }]);
});

test('the refusal says in the shape of each API what to do, and no client tries again', async () => {
  await start({ stopAtUsd: 2 });
  await ask();
  const [session] = await listed();
  const message = expect.stringMatching(`${session?.id}.* has cost \\$2, .*resume the session .*sluice session resume`);
  const headers = { 'x-sluice-session': 'run' };
  const openai = new OpenAI({ baseURL: sluice.baseUrl, apiKey: testKey, maxRetries: 2 });
  const refused = await openai.chat.completions.create(hello, { headers }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
  expect(refused).toMatchObject({ code: 'session_budget_spent', message });
  const claude = new Anthropic({ baseURL: sluice.origin, apiKey: testKey, maxRetries: 2 });
  await expect(claude.messages.create({ ...hello, max_tokens: 9 }, { headers })).rejects.toMatchObject({
    status: 400,
    error: { type: 'error', error: { type: 'invalid_request_error', message } },
  });
  expect(upstream.seen).toHaveLength(1);
});

test('each amount is reported once, also over a restart', async () => {
  await start({ notifyAtUsd: 3, stopAtUsd: 6 });
  await ask();
  expect(notices).toEqual([]);
  await ask();
  const notice = {
    amount: 'notify',
    amountUsd: 3,
    usedUsd: 4,
    keyId: 'k1',
    client: 'claude-cli/2.1.197 (external, cli)',
  };
  expect(notices).toEqual([{ ...notice, sessionId: (await listed())[0]?.id }]);
  await restart({ notifyAtUsd: 3, stopAtUsd: 6 });
  await ask();
  expect(notices.slice(1)).toMatchObject([{ amount: 'stop', amountUsd: 6, usedUsd: 6 }]);
  expect(await ask()).toBe(400);
  expect(notices).toHaveLength(2);
});

test('the sum is exact over a restart', async () => {
  await start({ stopAtUsd: 6 });
  expect([await ask(), await ask()]).toEqual([200, 200]);
  await restart({ stopAtUsd: 6 });
  expect([await ask(), await ask()]).toEqual([200, 400]);
  expect(await listed()).toMatchObject([{ costUsd: 6, budgetUsedUsd: 6 }]);
});

test('a session that is resumed has its budget anew, also over a restart', async () => {
  await start({ stopAtUsd: 2 });
  expect([await ask(), await ask()]).toEqual([200, 400]);
  const id = (await listed())[0]?.id ?? '';
  await sluice.gateway.execute({ type: 'session.resume', id });
  expect(await listed()).toMatchObject([{ isOverBudget: false, budgetUsedUsd: 0, costUsd: 2 }]);
  await restart({ stopAtUsd: 2 });
  expect([await ask(), await ask()]).toEqual([200, 400]);
});

test('a budget that is raised holds at once', async () => {
  await start({ stopAtUsd: 2 });
  expect([await ask(), await ask()]).toEqual([200, 400]);
  await sluice.gateway.execute({ type: 'settings.update', changes: { sessionBudget: { stopAtUsd: 4 } } });
  expect([await ask(), await ask()]).toEqual([200, 400]);
});

test('a budget that is switched off refuses and reports nothing', async () => {
  await start({ notifyAtUsd: 3, stopAtUsd: 4 });
  await ask();
  const off = { notifyAtUsd: null, stopAtUsd: null };
  await sluice.gateway.execute({ type: 'settings.update', changes: { sessionBudget: off } });
  expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 200]);
  expect(notices).toEqual([]);
});

test('a budget that is set while a session goes on counts what it has cost before', async () => {
  await start({});
  expect([await ask(), await ask()]).toEqual([200, 200]);
  await sluice.gateway.execute({ type: 'settings.update', changes: { sessionBudget: { stopAtUsd: 4 } } });
  expect(await ask()).toBe(400);
});

test('the first request of a conversation counts, although it joins its session later', async () => {
  await start({ stopAtUsd: 4 }, 'all');
  const said: object[] = [{ role: 'user', content: 'One of many' }];
  const grow = () => said.push({ role: 'assistant', content: 'Hello' }, { role: 'user', content: 'More' });
  expect(await ask(null, said)).toBe(200);
  grow();
  expect(await ask(null, said)).toBe(200);
  grow();
  expect(await ask(null, said)).toBe(400);
  expect(await listed()).toMatchObject([{ costUsd: 4, budgetUsedUsd: 4 }]);
});

test('an amount that is no amount is refused with its name', async () => {
  await start({});
  const changes = { sessionBudget: { stopAtUsd: 0 } };
  await expect(sluice.gateway.execute({ type: 'settings.update', changes })).rejects.toMatchObject({
    message: expect.stringContaining('sessionBudget.stopAtUsd'),
  });
});
