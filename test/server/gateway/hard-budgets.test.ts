/** Hard budgets with many concurrent requests, each of which costs far more than estimated. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { ConfigInput, groupSchema } from '../../../server/contract/config.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { isSweep } from '../../support/sweep.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { chunk } from './streams.ts';

type Budget = NonNullable<NonNullable<z.input<typeof groupSchema>['limits']>['budgets']>[number];

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let sluice: TestGateway;

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
});

const prices = {
  'gpt-x': { input: 1_000, output: 1_000 },
  heard: { minute: 6 },
  drawn: { image: 2 },
  painted: { input: 1_000, imageOutput: 1_000 },
  filmed: { second: 1 },
  spoken: { characters: 100_000 },
};

async function start(budget: Partial<Budget>, group: Partial<z.input<typeof groupSchema>> = {}): Promise<void> {
  const budgets = [{ unit: 'tokens' as const, amount: 30_000, per: 'day' as const, hard: true, ...budget }];
  const config: Partial<ConfigInput> = {
    providers: [mainProvider(upstream.baseUrl)],
    groups: [{ id: 'default', ...group }],
    keys: [{ id: 'k1', name: 'My app', group: 'default', hash: hashOf(testKey), limits: { budgets } }],
    settings: { prices },
  };
  sluice = await stopLater(startGateway({ config }));
}

const post = (path: string, body: object) => sluice.fetch(path, { method: 'POST', body: JSON.stringify(body) });

/** Concurrent requests. */
const parallelRequests = isSweep ? 200 : 50;

/** Resolves with the number of requests that were answered. */
async function countAnswered(ask: () => Promise<Response>): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: parallelRequests }, async () => {
      const response = await ask();
      await response.arrayBuffer();
      return response.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  return statuses.filter((status) => status === 200).length;
}

async function spentUsd(): Promise<number> {
  const [row] = await sluice.gateway.query({ type: 'usage', by: 'key' });
  return row?.costUsd ?? 0;
}

const ask = { model: 'gpt-x', messages: [{ role: 'user', content: 'hello' }] };

function answerChat(tokens: number): void {
  const usage = { prompt_tokens: 20, completion_tokens: tokens, total_tokens: tokens + 20 };
  upstream.answer((_request, response) =>
    json(response, { id: 'c', object: 'chat.completion', model: 'gpt-x', choices: [], usage }),
  );
}

describe('many requests at once exceed a hard budget by no more than the cost of one of them', () => {
  test.each<[string, object, number]>([
    ['that state no maximum', {}, 14_000],
    ['that allow a long answer', { max_tokens: 16_000 }, 16_000],
    ['that ask for many answers', { n: 20, max_tokens: 400 }, 8_000],
    ['that name two maxima', { max_completion_tokens: 1, max_tokens: 4_000 }, 4_000],
  ])('%s', async (_, more, tokens) => {
    answerChat(tokens);
    await start({});
    const answered = await countAnswered(() => post('/chat/completions', { ...ask, ...more }));
    expect(answered).toBeGreaterThan(0);
    expect(answered * (tokens + 20)).toBeLessThanOrEqual(30_000 + tokens + 20);
  });

  test('that have the best of many answers chosen', async () => {
    answerChat(8_000);
    await start({});
    const body = { model: 'gpt-x', prompt: 'hello', max_tokens: 400, n: 1, best_of: 20 };
    expect((await countAnswered(() => post('/completions', body))) * 8_000).toBeLessThanOrEqual(38_000);
  });

  test('that have a recording transcribed', async () => {
    upstream.answer((_request, response) => json(response, { text: 'x', usage: { type: 'duration', seconds: 60 } }));
    await start({ unit: 'usd', amount: 6 });
    const form = () => {
      const body = new FormData();
      body.set('model', 'heard');
      body.set('file', new Blob([Buffer.alloc(40_000)]), 'speech.ogg');
      return sluice.fetch('/audio/transcriptions', { method: 'POST', body });
    };
    expect((await countAnswered(form)) * 6).toBeLessThanOrEqual(12);
    expect(await spentUsd()).toBe(6);
  });

  test('that ask for a film of no certain length', async () => {
    upstream.answer((_request, response) => json(response, { id: 'video_1', status: 'queued', seconds: '8' }));
    await start({ unit: 'usd', amount: 20 });
    const answered = await countAnswered(() => post('/videos', { model: 'filmed', prompt: 'A cat' }));
    expect(answered).toBeGreaterThan(0);
    expect(answered * 8).toBeLessThanOrEqual(28);
  });

  test.each([
    ['by the piece', { model: 'drawn', n: 5 }, { data: [{ url: 'x' }] }, 10],
    [
      'by tokens',
      { model: 'painted' },
      { data: [{ url: 'x' }], usage: { input_tokens: 10, output_tokens: 6_000 } },
      6.01,
    ],
  ])('that ask for pictures which are charged %s', async (_, body, reply, costUsd) => {
    upstream.answer((_request, response) => json(response, reply));
    await start({ unit: 'usd', amount: 20 });
    const answered = await countAnswered(() => post('/images/generations', { ...body, prompt: 'A cat' }));
    expect(answered).toBeGreaterThan(0);
    expect(answered * costUsd).toBeLessThanOrEqual(20 + costUsd);
  });

  test('that ask for speech', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3');
    });
    await start({ unit: 'usd', amount: 6 });
    const answered = await countAnswered(() => post('/audio/speech', { model: 'spoken', input: 'a'.repeat(30) }));
    expect(answered).toBeGreaterThan(0);
    expect(answered * 3).toBeLessThanOrEqual(9);
  });
});

test('a request that may cost more than the whole budget is served where nothing else runs', async () => {
  answerChat(100);
  await start({ amount: 1_000 });
  for (let count = 0; count < 3; count++) expect((await post('/chat/completions', ask)).status).toBe(200);
});

describe('where a hard budget in dollars holds', () => {
  const unknown = { ...ask, model: 'of-no-price' };

  test('a model without a known price is refused, and the answer names the price to set', async () => {
    answerChat(10);
    await start({ unit: 'usd', amount: 5 });
    const refused = await post('/chat/completions', unknown);
    expect(refused.status).toBe(403);
    const { error } = (await refused.json()) as { error: { code: string; param: string; message: string } };
    expect(error).toMatchObject({ code: 'price_unknown', param: 'model' });
    expect(error.message).toMatch(/^The price of model "of-no-price" of provider "main" is not known.*key "My app"/);
    expect(error.message).toContain('settings.prices, such as {"main/of-no-price": {"input": 1, "output": 2}}');
    expect(error.message).toContain('"unpriced" of group "default" to "allow"');
    expect(upstream.seen).toEqual([]);
  });

  test('a group may allow such a model, and a budget in tokens asks for no price', async () => {
    answerChat(10);
    await start({ unit: 'usd', amount: 5 }, { unpriced: 'allow' });
    expect((await post('/chat/completions', unknown)).status).toBe(200);
    await sluice.stop();
    await start({ unit: 'tokens' });
    expect((await post('/chat/completions', unknown)).status).toBe(200);
  });

  test('a target without a known price is left out, and the others are used', async () => {
    answerChat(10);
    await startAlias();
    expect((await post('/chat/completions', { ...ask, model: 'any' })).status).toBe(200);
    expect(upstream.seen.map(({ body }) => JSON.parse(body.toString()).model)).toEqual(['gpt-x']);
  });

  test('an answer that does not report its length counts with the reserved amount, not nothing', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('hello');
    });
    await start({ unit: 'usd', amount: 6 });
    const body = new FormData();
    body.set('model', 'heard');
    body.set('response_format', 'text');
    body.set('file', new Blob([Buffer.alloc(1_000)]), 'speech.ogg');
    const transcribe = () => sluice.fetch('/audio/transcriptions', { method: 'POST', body });
    const first = await transcribe();
    expect(first.status).toBe(200);
    expect(await sluice.record(first.headers.get('x-request-id') ?? '')).toMatchObject({
      usageCertainty: 'reserved',
      costUsd: 6,
    });
    expect((await transcribe()).status).toBe(429);
  });

  test('what a broken attempt of unknown cost leaves is counted with what is known', async () => {
    const counted = chunk({}, 'stop', { usage: { prompt_tokens: 1_000, completion_tokens: 2_000 } });
    upstream.answer(({ body }, response) => {
      eventStream(response);
      const begun = `data: ${JSON.stringify(chunk({ content: 'To tell the weather' }))}\n\n`;
      if (JSON.parse(body.toString()).model === 'of-no-price') {
        response.write(begun, () => setImmediate(() => response.destroy()));
      } else response.end(`${begun}data: ${JSON.stringify(counted)}\n\ndata: [DONE]\n\n`);
    });
    await startAlias({ unpriced: 'allow', policy: { retries: 0 } });
    const response = await post('/chat/completions', { ...ask, model: 'any', stream: true });
    await response.text();
    const record = await sluice.record(response.headers.get('x-request-id') ?? '');
    expect(record.attempts.map(({ costUsd }) => costUsd)).toEqual([null, 3]);
    expect(record.costUsd).toBe(3);
    const [row] = await sluice.gateway.query({ type: 'usage', by: 'key' });
    expect(row).toMatchObject({ costUsd: 3, unpricedRequests: 1 });
  });
});

/** An alias for a model without a price, and then for one with a price. */
async function startAlias(group: Partial<z.input<typeof groupSchema>> = {}): Promise<void> {
  const targets = ['of-no-price', 'gpt-x'].map((model, priority) => ({ provider: 'main', model, priority }));
  sluice = await stopLater(
    startGateway({
      config: {
        providers: [mainProvider(upstream.baseUrl)],
        aliases: [{ name: 'any', targets }],
        groups: [{ id: 'default', limits: { budgets: [{ unit: 'usd', amount: 5, per: 'day' }] }, ...group }],
        settings: { prices },
      },
    }),
  );
}
