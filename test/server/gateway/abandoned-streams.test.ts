/**
 * What a stream costs that its client leaves early, while the provider bills 5,000 hidden tokens of reasoning: on each API
 * and in translation, after the first word, at the finish reason, and just before the end.
 *
 * @suite long
 */
import http from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { isSweep } from '../../support/sweep.ts';
import {
  billed,
  startThinkingUpstream,
  type ThinkingApi,
  type ThinkingUpstream,
  thinkingProviders,
} from '../../support/thinking-upstream.ts';

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

type Client = 'chat' | 'completions' | 'responses' | 'messages' | 'gemini' | 'gemini array';
type Left = 'after the first word' | 'at the finish reason' | 'before the end';

/** $1 for 1,000 tokens. */
const price = { input: 1_000, output: 1_000 };
const costUsd = (billed.inputTokens + billed.outputTokens) / 1_000;
const most = 6_000;
const budgetUsd = 20;
const hard = { budgets: [{ unit: 'usd', amount: budgetUsd, per: 'day', hard: true } as const] };

interface Started {
  gateway: TestGateway;
  thinking: ThinkingUpstream;
  model: string;
}

async function start(api: ThinkingApi, key: object = { limits: hard }, group: object = {}): Promise<Started> {
  const { path, config, model, secret } = thinkingProviders[api];
  const thinking = await startThinkingUpstream(api);
  running.push(() => thinking.upstream.stop());
  const providers = [mainProvider(thinking.upstream.origin + path, { ...config, models: [model, '*'] })];
  const gateway = await startGateway({
    config: {
      providers: providers as ConfigInput['providers'],
      groups: [{ id: 'default', policy: { retries: 0 }, ...group }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), ...key }],
      settings: { prices: { [`main/${model}`]: price } },
    },
    secrets: { 'provider/main/c1': secret },
  });
  running.push(() => gateway.stop());
  return { gateway, thinking, model };
}

const question = 'Why?';
const messages = [{ role: 'user', content: question }];
const contents = [{ role: 'user', parts: [{ text: question }] }];

function callOf(client: Client, model: string): { path: string; body: object } {
  const gemini = (query: string) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent${query}`,
    body: { contents, generationConfig: { maxOutputTokens: most } },
  });
  switch (client) {
    case 'chat':
      return { path: '/v1/chat/completions', body: { model, messages, stream: true, max_completion_tokens: most } };
    case 'completions':
      return { path: '/v1/completions', body: { model, prompt: question, stream: true, max_tokens: most } };
    case 'responses':
      return { path: '/v1/responses', body: { model, input: question, stream: true, max_output_tokens: most } };
    case 'messages':
      return { path: '/v1/messages', body: { model, messages, stream: true, max_tokens: most } };
    case 'gemini':
      return gemini('?alt=sse');
    case 'gemini array':
      return gemini('');
  }
}

let clients = 0;

/** Asks, leaves at this place, and resolves with the status and the name that the request has in the ledger. */
async function leave(started: Started, client: Client, left: Left): Promise<{ status: number; name: string }> {
  const { gateway, thinking, model } = started;
  const { path, body } = callOf(client, model);
  const name = `leaving client ${++clients}`;
  const countedBefore = thinking.counted;
  const request = http.request(`${gateway.origin}${path}`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', 'user-agent': name },
  });
  request.end(JSON.stringify(body));
  const status = await new Promise<number>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', async (response) => {
      let text = '';
      for await (const piece of response) {
        text += String(piece);
        if (response.statusCode === 200 && text.includes(left === 'after the first word' ? 'The' : ' end')) break;
      }
      resolve(response.statusCode ?? 0);
    });
  });
  if (left === 'before the end' && status === 200) await eventually(() => thinking.counted > countedBefore);
  request.on('error', () => {});
  request.destroy();
  return { status, name };
}

/** The request's row, once it has ended. */
function rowOf({ gateway }: Started, name: string): Promise<RequestView> {
  return eventually(async () => {
    const { requests } = await gateway.gateway.query({ type: 'requests', limit: 50 });
    return requests.find((row) => row.client === name && row.outcome !== null) ?? null;
  });
}

const pairs: [Client, ThinkingApi][] = [
  ['chat', 'chat'],
  ['completions', 'completions'],
  ['responses', 'responses'],
  ['messages', 'messages'],
  ['gemini', 'gemini'],
  ['gemini array', 'gemini'],
  ['chat', 'messages'],
  ['chat', 'gemini'],
  ['chat', 'converse'],
  ['chat', 'responses'],
  ['responses', 'chat'],
  ['responses', 'converse'],
  ['messages', 'chat'],
  ['messages', 'gemini'],
  ['gemini', 'chat'],
  ['gemini array', 'messages'],
];

describe.each(pairs)('a client of %s that leaves a stream of %s', (client, api) => {
  test('after the first word is charged for all that it had reserved, under a hard budget', async () => {
    const started = await start(api);
    started.thinking.halt = 'first';
    const { name } = await leave(started, client, 'after the first word');
    await eventually(() => started.thinking.cut === 1);
    const row = await rowOf(started, name);
    expect(row).toMatchObject({ outcome: 'client-gone', usageCertainty: 'reserved', usage: { outputTokens: most } });
    expect(row.costUsd).toBeGreaterThan(most / 1_000);
    expect(row.costUsd).toBeLessThan(most / 1_000 + 0.1);
  });

  test.each<Left>(['at the finish reason', 'before the end'])('%s is charged for what was used', async (left) => {
    const started = await start(api);
    const { name } = await leave(started, client, left);
    const row = await rowOf(started, name);
    expect(row).toMatchObject({ outcome: 'ok', usageCertainty: 'reported', usage: billed });
    expect(row.costUsd).toBeCloseTo(costUsd, 6);
    expect(row.attempts).toMatchObject([{ failure: null }]);
  });
});

const identical = pairs.filter(([client, api]) => client === api || api === 'converse');
const budgeted = isSweep ? identical : identical.filter(([client]) => client === 'chat' || client === 'messages');

describe.each(budgeted)('100 clients of %s that leave streams of %s', (client, api) => {
  test.each<Left>(['after the first word', 'at the finish reason'])(
    '%s, one after the other, exceed a hard budget by no more than one costs',
    async (left) => {
      const started = await start(api);
      let refused = 0;
      for (let count = 0; count < 100 && refused < 3; count++) {
        const { status, name } = await leave(started, client, left);
        if (status !== 200) refused++;
        else await rowOf(started, name);
      }
      expect(refused).toBe(3);
      expect(started.thinking.upstream.seen.length).toBeGreaterThan(2);
      expect(started.thinking.upstream.seen.length * costUsd).toBeLessThan(budgetUsd + costUsd);
    },
  );

  test.each<Left>(['after the first word', 'at the finish reason'])(
    '%s, all at once, exceed a hard budget by no more than one costs',
    async (left) => {
      const started = await start(api);
      const all = await Promise.all(Array.from({ length: 100 }, () => leave(started, client, left)));
      const answered = all.filter(({ status }) => status === 200).length;
      expect(answered).toBeGreaterThan(2);
      expect(started.thinking.upstream.seen.length).toBe(answered);
      expect(answered * costUsd).toBeLessThan(budgetUsd + costUsd);
    },
  );
});

describe('a stream of a chat', () => {
  test('that is left at the finish reason is read to its usage also where the group drains', async () => {
    const started = await start('chat', { limits: hard }, { policy: { retries: 0, onClientGone: 'drain' } });
    const { name } = await leave(started, 'chat', 'at the finish reason');
    expect(await rowOf(started, name)).toMatchObject({ outcome: 'ok', usageCertainty: 'reported', usage: billed });
    expect(started.thinking.cut).toBe(0);
  });

  test('that is left after the first word is read to its usage where the group drains', async () => {
    const started = await start('chat', { limits: hard }, { policy: { retries: 0, onClientGone: 'drain' } });
    const { name } = await leave(started, 'chat', 'after the first word');
    expect(await rowOf(started, name)).toMatchObject({ outcome: 'client-gone', usageCertainty: 'reported' });
  });

  test('whose usage does not come is left after five seconds, and charged as reserved', async () => {
    const started = await start('chat');
    started.thinking.halt = 'finish';
    const beganMs = performance.now();
    const { name } = await leave(started, 'chat', 'at the finish reason');
    const row = await rowOf(started, name);
    expect(performance.now() - beganMs).toBeGreaterThan(4_900);
    expect(row).toMatchObject({ outcome: 'ok', usageCertainty: 'reserved', usage: { outputTokens: most } });
    expect(started.thinking.cut).toBe(1);
  });

  test('that is left is estimated without a hard budget, and its upstream is cut at once', async () => {
    const started = await start('chat', {});
    started.thinking.halt = 'first';
    const { name } = await leave(started, 'chat', 'after the first word');
    await eventually(() => started.thinking.cut === 1);
    expect(await rowOf(started, name)).toMatchObject({ usageCertainty: 'estimated', usage: { outputTokens: 1 } });
  });
});

describe('an answer that the upstream cuts', () => {
  test.each([
    ['after its first word', true],
    ['before it says anything', false],
  ])(
    '%s is charged as reserved under a hard budget, and not at all without it if it said nothing',
    async (_, speaks) => {
      for (const isHard of [true, false]) {
        const started = await start('chat', isHard ? { limits: hard } : {}, { policy: { retries: 0, rescue: 'off' } });
        started.thinking.upstream.answer((_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const word = { choices: [{ index: 0, delta: { content: 'The' } }] };
          response.write(speaks ? `data: ${JSON.stringify(word)}\n\n` : ': working\n\n', () =>
            setTimeout(() => response.destroy(), 50),
          );
        });
        const { body } = callOf('chat', started.model);
        const reply = await started.gateway.fetch('/chat/completions', { method: 'POST', body: JSON.stringify(body) });
        await reply.text().catch(() => '');
        const row = await started.gateway.record(reply.headers.get('x-request-id') ?? '');
        if (isHard) expect(row).toMatchObject({ usageCertainty: 'reserved', usage: { outputTokens: most } });
        else if (speaks) expect(row).toMatchObject({ usageCertainty: 'estimated', usage: { outputTokens: 1 } });
        else expect(row).toMatchObject({ usage: null, costUsd: 0 });
      }
    },
  );

  test('with an error of its own costs nothing', async () => {
    const started = await start('chat');
    started.thinking.upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"error":{"type":"server_error","code":"overloaded","message":"Try later"}}\n\n');
    });
    const { body } = callOf('chat', started.model);
    const reply = await started.gateway.fetch('/chat/completions', { method: 'POST', body: JSON.stringify(body) });
    await reply.text();
    const row = await started.gateway.record(reply.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ usage: null, costUsd: 0 });
  });
});

test('an attempt that was overtaken is charged as reserved, and 20 hedged requests at once exceed no hard budget', async () => {
  const slow = await startThinkingUpstream('chat');
  const fast = await startThinkingUpstream('chat');
  running.push(
    () => slow.upstream.stop(),
    () => fast.upstream.stop(),
  );
  // It reasons without a word.
  slow.upstream.answer((_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }));
  const targets = ['main', 'spare'].map((provider, priority) => ({ provider, model: 'gpt-x', priority }));
  const gateway = await startGateway({
    config: {
      providers: [
        mainProvider(`${slow.upstream.origin}/v1`),
        mainProvider(`${fast.upstream.origin}/v1`, { id: 'spare' }),
      ],
      aliases: [{ name: 'any', targets }],
      groups: [{ id: 'default', policy: { hedgeAfterMs: 100 } }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits: hard }],
      settings: { prices: { 'gpt-x': price } },
    },
    secrets: { 'provider/spare/c1': 'k' },
  });
  running.push(() => gateway.stop());
  const { body } = callOf('chat', 'any');
  const ask = async () => {
    const reply = await gateway.fetch('/chat/completions', { method: 'POST', body: JSON.stringify(body) });
    await reply.text();
    return reply.status === 200 ? await gateway.record(reply.headers.get('x-request-id') ?? '') : null;
  };
  const answered = (await Promise.all(Array.from({ length: 20 }, ask))).filter((row) => row !== null);
  expect(answered.length).toBeGreaterThan(0);
  for (const { attempts } of answered)
    expect(attempts.map(({ usageCertainty }) => usageCertainty)).toEqual(['reserved', 'reported']);
  const asked = slow.upstream.seen.length + fast.upstream.seen.length;
  expect(asked * costUsd).toBeLessThan(budgetUsd + 2 * costUsd);
});
