import { afterEach, beforeEach, expect, test } from 'vitest';
import { concernsOf } from '../../../../server/contract/attention.ts';
import type { PanelView } from '../../../../server/contract/panel-view.ts';
import { hashOf, testKey } from '../../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';
import { type ControlGateway, startControlGateway } from '../control-gateway.ts';

const usage = { prompt_tokens: 700, completion_tokens: 30, total_tokens: 730 };
const budget = (amount: number) => ({ budgets: [{ unit: 'tokens' as const, amount, per: 'day' as const }] });

let upstream: ScriptedUpstream;
let sluice: ControlGateway;
beforeEach(async () => {
  upstream = await startUpstream((request, response) => {
    const { model } = JSON.parse(request.body.toString());
    if (model === 'gpt-x') response.setHeader('x-ratelimit-remaining-tokens', '1234');
    json(response, { id: 'x', choices: [], usage });
  });
  const { baseUrl } = upstream;
  sluice = await startControlGateway({
    config: {
      providers: [
        { id: 'main', name: 'Main', baseUrl, credentials: [{ id: 'c1' }], models: ['gpt-x', 'gpt-y'] },
        { id: 'local', name: 'Local', baseUrl, models: ['small'] },
      ],
      aliases: [
        {
          name: 'fast',
          targets: [
            { provider: 'main', model: 'gpt-y', priority: 1 },
            { provider: 'local', model: 'small' },
          ],
        },
      ],
      groups: [{ id: 'default', limits: budget(100_000) }, { id: 'free' }],
      keys: [
        { id: 'k1', name: 'Laptop', group: 'default', hash: hashOf(testKey), limits: budget(1_700) },
        { id: 'k2', name: 'Agent', group: 'free', hash: hashOf('sk-agent') },
      ],
    },
    secrets: { 'provider/main/c1': 'sk-planted-4711' },
  });
});
afterEach(async () => {
  await sluice.stop();
  await upstream.stop();
});

async function ask(model: string, client: string, more: { key?: string; headers?: Record<string, string> } = {}) {
  const { key = testKey, headers = {} } = more;
  const response = await fetch(`${sluice.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'user-agent': client,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
  await response.text();
  await sluice.record(response.headers.get('x-request-id') ?? undefined);
}

const zone = 'Asia/Kathmandu';
const panel = (sinceMs = 0): Promise<PanelView> => sluice.gateway.query({ type: 'panel', sinceMs, zone });

test('the panel says what the queries of the window say', async () => {
  await ask('fast', 'claude-cli/2.0.1', { headers: { 'x-sluice-session': 'refactor' } });
  await ask('gpt-x', 'curl/8.5.0');
  await ask('gpt-y', 'nobody/1', { key: 'sk-agent', headers: { 'x-sluice-session': 'other' } });
  for (let index = 0; index < 4; index += 1) await ask('no-such-model', 'curl/8.5.0');
  await sluice.gateway.execute({ type: 'capture.start', minutes: 10 });

  const { query } = sluice.gateway;
  const view = await panel();
  const [usageOfDay, requests, sessions, status, keys, groups, providers, refusals] = await Promise.all([
    query({ type: 'usage', by: 'day', sinceMs: 0, zone }),
    query({ type: 'requests', limit: 5 }),
    query({ type: 'sessions' }),
    query({ type: 'status' }),
    query({ type: 'keys' }),
    query({ type: 'groups' }),
    query({ type: 'providers' }),
    query({ type: 'refusals' }),
  ]);
  expect(view.today).toMatchObject({ requests: 7, refused: 4, inputTokens: 2_100, outputTokens: 90 });
  expect(view.today).toEqual(usageOfDay.at(-1));
  expect(view.requests).toEqual(requests.requests);
  expect(view.sessions).toEqual(sessions.sessions);
  expect(view.sessions).toHaveLength(2);
  expect(view.capture).toEqual(status.capture);
  expect(view.capture).toHaveLength(1);
  expect(view).toMatchObject({ baseUrl: status.baseUrl, readOnly: false });
  const lists = { keys, keyCount: keys.length, groups, groupCount: groups.length, aliases: [] };
  const concerns = concernsOf({ status, providers, refusals, ...lists }, Date.now());
  expect(concerns.map(({ kind }) => kind)).toContain('key-budget');
  expect(view.attention).toEqual({ count: concerns.length, isBad: concerns.some(({ isBad }) => isBad) });
  // The pace goes on with the clock.
  const pace = null;
  expect(view.budgets.map((budget) => ({ ...budget, meter: { ...budget.meter, pace } }))).toEqual([
    { scope: 'key', id: 'k1', name: 'Laptop', meter: { ...keys[0]?.limitUse[0], pace } },
    { scope: 'group', id: 'default', name: 'default', meter: { ...groups[0]?.limitUse[0], pace } },
  ]);

  const clients = await query({ type: 'clients' });
  expect(view.clients.map(({ client, keyId, lastUsedAt }) => ({ client, keyId, lastUsedAt }))).toEqual(clients);
  for (const { keyId, models } of view.clients) {
    for (const { model, target } of models) {
      const route = await query({ type: 'route', key: keyId ?? '', model });
      const first = route.candidates.find(({ isTaken }) => isTaken);
      expect(target, model).toEqual(
        first ? { provider: first.provider, providerName: first.name, model: first.model } : null,
      );
    }
  }
});

test('a client is shown with its models, whatever its version, and with who else asks for them', async () => {
  await ask('fast', 'claude-cli/2.0.1');
  await ask('gpt-x', 'claude-cli/2.0.2');
  await ask('fast', 'claude-cli/2.0.2');
  await ask('fast', 'something-of-its-own/1', { key: 'sk-agent' });
  await ask('gpt-y', 'OpenAI/JS 6.0 [Sluice window]');
  const { clients } = await panel();
  expect(clients).toMatchObject([
    {
      client: 'something-of-its-own/1',
      product: null,
      keyName: 'Agent',
      hasOwnKey: true,
      models: [{ model: 'fast', requests: 1, isAlias: true, lock: null, sharedWith: ['claude-code'] }],
    },
    {
      client: 'claude-cli/2.0.2',
      product: 'claude-code',
      keyName: 'Laptop',
      hasOwnKey: true,
      models: [
        {
          model: 'fast',
          requests: 2,
          target: { provider: 'local', model: 'small' },
          sharedWith: ['something-of-its-own/1'],
        },
        { model: 'gpt-x', requests: 1, isAlias: false, target: { provider: 'main', model: 'gpt-x' }, sharedWith: [] },
      ],
    },
  ]);
  await ask('gpt-x', 'curl/8.5.0');
  expect((await panel()).clients.map(({ product, hasOwnKey }) => [product, hasOwnKey])).toEqual([
    ['curl', false],
    [null, true],
    ['claude-code', false],
  ]);
});

test('an alias of a key alone is shown as its own, and concerns no other key', async () => {
  await ask('fast', 'claude-cli/2.0.1');
  await ask('fast', 'something-of-its-own/1', { key: 'sk-agent' });
  const targets = [{ provider: 'main', model: 'gpt-x' }];
  await sluice.gateway.execute({ type: 'alias.put', key: 'k2', alias: { name: 'fast', targets } });
  const [agent, laptop] = (await panel()).clients.map(({ models }) => models[0]);
  expect(agent).toMatchObject({ isAlias: true, isOwn: true, target: { model: 'gpt-x' }, sharedWith: [] });
  expect(laptop).toMatchObject({ isAlias: true, isOwn: false, target: { model: 'small' }, sharedWith: [] });
});

test('what a provider has left is shown once an answer has told it, and only while it is on', async () => {
  await ask('gpt-y', 'curl/8.5.0');
  expect((await panel()).remaining).toEqual([]);
  await ask('gpt-x', 'curl/8.5.0');
  await ask('gpt-y', 'curl/8.5.0');
  const told = { kind: 'tokens', remaining: 1_234, limit: null, resetsAt: null };
  const main = { provider: 'main', providerName: 'Main', credentialId: 'c1', credentialLabel: null };
  expect((await panel()).remaining).toEqual([{ ...main, ...told }]);
  await sluice.gateway.execute({ type: 'provider.set-enabled', id: 'main', enabled: false });
  expect((await panel()).remaining).toEqual([]);
});

test('requests of other days are not shown, and those that a question has read are not forgotten by the next', async () => {
  await ask('fast', 'curl/8.5.0');
  const sinceMs = Date.now() + 1;
  expect((await panel(sinceMs + 60_000)).clients).toEqual([]);
  expect((await panel()).clients).toHaveLength(1);
  await ask('fast', 'curl/8.5.0');
  expect((await panel()).clients[0]?.models[0]).toMatchObject({ requests: 2 });
  expect((await panel(sinceMs)).clients[0]?.models[0]).toMatchObject({ requests: 1 });
});
