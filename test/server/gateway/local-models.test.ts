/** Models on this machine cost nothing: in limits, ledger, usage, and prices. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) =>
    json(response, {
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  );
  const lan = upstream.baseUrl.replace('127.0.0.1', '127.0.0.1.nip.example');
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', limits: { budgets: [{ unit: 'usd', amount: 5, per: 'day' }] } }],
      providers: [
        mainProvider(upstream.baseUrl, {
          preset: 'ollama',
          models: ['qwen3:8b', 'gpt-4o', 'gpt-oss:120b-cloud', 'mine'],
        }),
        { id: 'proxy', baseUrl: upstream.baseUrl, preset: 'custom', models: ['proxied'] },
        { id: 'marked', baseUrl: upstream.baseUrl, preset: 'custom', models: ['marked-model'], free: true },
        { id: 'lan', baseUrl: lan, preset: 'ollama', models: ['lan-model'] },
      ],
      settings: { prices: { mine: { input: 100, output: 0 } } },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

async function ask(model: string) {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 });
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const answer = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: answer.error?.code, id: response.headers.get('x-sluice-request-id') ?? '' };
}

describe('under a hard budget in dollars', () => {
  test.each(['qwen3:8b', 'gpt-4o', 'marked-model'])('%s is admitted, and costs 0', async (model) => {
    const { status, id } = await ask(model);
    expect(status).toBe(200);
    expect(await gateway.record(id)).toMatchObject({ costUsd: 0, usage: { inputTokens: 10, outputTokens: 5 } });
  });

  test.each(['gpt-oss:120b-cloud', 'proxied', 'lan-model'])('%s has no price, and is refused', async (model) => {
    expect(await ask(model)).toMatchObject({ status: 403, code: 'price_unknown' });
  });

  test('nothing is counted as spent or as missing from it', async () => {
    const usage = (await (await gateway.fetch('/usage')).json()) as { today: object };
    expect(usage.today).toMatchObject({ cost_usd: 0, unpriced_requests: 0 });
  });

  test('a model with a price of one’s own has that price', async () => {
    const { id } = await ask('mine');
    expect((await gateway.record(id)).costUsd).toBeCloseTo(0.001, 9);
  });

  test('the prices say that they are local', async () => {
    const { models } = await gateway.gateway.query({ type: 'prices' });
    const priceOf = (name: string) => models.find(({ model }) => model === name)?.price;
    expect(priceOf('qwen3:8b')).toMatchObject({ isOwn: false, isLocal: true, amounts: { request: 0 } });
    expect(priceOf('mine')).toMatchObject({ isOwn: true });
    expect(priceOf('gpt-oss:120b-cloud')).toBeNull();
  });
});
