/** Three gateways that count limits together, over real sockets. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../../server/contract/config.ts';
import type { StatusView } from '../../../../server/contract/status-views.ts';
import { connectValkey, openReplicaLimits } from '../../../../server/team/valkey/open-replica-limits.ts';
import { begun, eventually } from '../../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';

const tokensEach = 100;

describe.runIf(hasValkey())('three gateways', () => {
  let valkey: ValkeyServer;
  let upstream: ScriptedUpstream;
  let gateways: TestGateway[] = [];
  let answers: (() => void)[] | null = null;
  let answered = 0;

  beforeEach(async () => {
    valkey = await startValkey('--requirepass', 'top-secret');
    answers = null;
    answered = 0;
    upstream = await startUpstream((_request, response) => {
      const usage = { prompt_tokens: 50, completion_tokens: 50, total_tokens: tokensEach };
      const answer = () => {
        answered++;
        json(response, { id: 'c', object: 'chat.completion', model: 'gpt-x', choices: [], usage });
      };
      if (answers) answers.push(answer);
      else answer();
    });
  });
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
    await upstream.stop();
    await valkey.stop();
  });

  const start = async (
    limits: NonNullable<NonNullable<ConfigInput['keys']>[number]['limits']>,
    more: Partial<ConfigInput> = {},
  ) => {
    const config: Partial<ConfigInput> = {
      providers: [mainProvider(upstream.baseUrl)],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits }],
      // $0.001 per token.
      settings: { prices: { 'gpt-x': { input: 1000, output: 1000 } } },
      ...more,
    };
    const ports = {
      openReplicaLimits: async (options: SharedOptions) => openReplicaLimits(await connectValkey(valkey.url), options),
    };
    gateways = [];
    for (let index = 0; index < 3; index++) gateways.push(await startGateway({ config, ports }));
    await Promise.all(gateways.map((gateway) => eventually(async () => (await viewOf(gateway))?.replicas === 3)));
  };
  const ask = (index: number, key = testKey) => {
    const gateway = gateways[index % 3];
    if (!gateway) throw new Error('There are three.');
    const body = JSON.stringify({ model: 'gpt-x', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] });
    return gateway.fetch('/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body,
    });
  };
  const refusedSoFar = async () => {
    // Most of them have no rows.
    const usage = await Promise.all(gateways.map(({ gateway }) => gateway.query({ type: 'usage', by: 'key' })));
    return usage.flat().reduce((sum, { refused }) => sum + refused, 0);
  };
  const statuses = async (times: number) => {
    const replies = await Promise.all(Array.from({ length: times }, (_, index) => ask(index)));
    const all = await Promise.all(replies.map(async (reply) => ({ status: reply.status, text: await reply.text() })));
    return (status: number) => all.filter((each) => each.status === status).length;
  };

  test('let exactly as many of 500 requests pass as a key may send in a minute', async () => {
    await start({ requestsPerMinute: 137 });
    const count = await statuses(500);
    expect([count(200), count(429)]).toEqual([137, 363]);
    expect(upstream.seen).toHaveLength(137);
  });

  test('let exactly as many of 200 requests pass as a person may send in a minute, with keys of several groups', async () => {
    const owner = `prs_${'0'.repeat(24)}`;
    const second = 'sk-test-second';
    const people = {
      issuer: 'https://id.example',
      clientId: 'sluice',
      roles: [{ claim: 'a', role: 'admin' as const }],
    };
    await start(
      {},
      {
        groups: [{ id: 'default' }, { id: 'other' }],
        keys: [
          { id: 'k1', group: 'default', owner, hash: hashOf(testKey) },
          { id: 'k2', group: 'other', owner, hash: hashOf(second) },
        ],
        settings: { people: { ...people, personLimits: { requestsPerMinute: 60 } } },
      },
    );
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) => ask(index, index % 2 === 0 ? testKey : second)),
    );
    const codes = replies.map(({ status }) => status);
    expect([200, 429].map((code) => codes.filter((each) => each === code).length)).toEqual([60, 140]);
    expect(await replies.find(({ status }) => status === 429)?.text()).toContain('person who owns this key');
  });

  test('let exactly as many run as may run at the same time', async () => {
    await start({ concurrent: 20 });
    const held: (() => void)[] = [];
    answers = held;
    const asked = begun(statuses(500));
    await eventually(() => held.length === 20);
    // All others are refused before one of these ends.
    await eventually(async () => (await refusedSoFar()) === 480);
    answers = null;
    for (const answer of held) answer();
    const count = await asked;
    expect([count(200), count(429)]).toEqual([20, 480]);
    const after = await statuses(9);
    expect(after(200)).toBe(9);
  });

  test('do not spend more of a hard budget than one request costs beyond it', async () => {
    await start({ budgets: [{ unit: 'usd', amount: 2.05, per: 'day', hard: true }] });
    for (let round = 0; round < 40; round++) await statuses(9);
    expect(answered * 0.1).toBeGreaterThanOrEqual(2.05);
    expect(answered * 0.1).toBeLessThanOrEqual(2.05 + 0.1);
  });

  test('serve on while Valkey is away, say so without its password, and count together again', async () => {
    await start({ requestsPerMinute: 30 });
    await valkey.kill();
    const [first] = gateways;
    if (!first) throw new Error('There are three.');
    await eventually(async () => (await viewOf(first))?.problem === 'unreachable');
    expect(await (await fetch(`${first.origin}/healthz`)).json()).toMatchObject({ sharedCounts: 'away' });
    expect(JSON.stringify(await first.gateway.query({ type: 'status' }))).not.toContain('top-secret');
    const count = await statuses(90);
    expect([count(200), count(429)]).toEqual([30, 60]);
    await valkey.start();
    await eventually(async () => (await viewOf(first))?.problem === null);
    expect(await (await fetch(`${first.origin}/healthz`)).json()).toMatchObject({ sharedCounts: 'ok' });
  });

  test.each([
    ['/chat/completions', { error: { type: 'server_error', code: 'shared_counts_unavailable' } }],
    ['/messages', { type: 'error', error: { type: 'api_error' } }],
  ])('refuse a request to %s under a hard budget in its API’s shape while Valkey is away', async (path, shape) => {
    await start({ budgets: [{ unit: 'usd', amount: 5, per: 'day', hard: true }] });
    await valkey.kill();
    const [first] = gateways;
    await eventually(async () => first && (await viewOf(first))?.problem === 'unreachable');
    const reply = await first?.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-x', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect(reply?.status).toBe(503);
    expect(reply?.headers.get('retry-after')).toBe('5');
    expect(await reply?.json()).toMatchObject(shape);
  });
});

type SharedOptions = Parameters<typeof openReplicaLimits>[1];

async function viewOf({ gateway }: TestGateway): Promise<StatusView['sharedCounts']> {
  return (await gateway.query({ type: 'status' })).sharedCounts;
}
