import { describe, expect, test } from 'vitest';
import { type ConfigInput, configSchema } from '../../../../server/contract/config.ts';
import { explainWires } from '../../../../server/control/queries/view-models.ts';
import { compileSnapshot } from '../../../../server/routing/compile.ts';
import { explainOrder, explainRoute } from '../../../../server/routing/explain/explain-route.ts';
import { HealthTracker } from '../../../../server/routing/health/health-tracker.ts';

const baseUrl = 'https://api.example.com/v1';

function explainWhole(input: Partial<ConfigInput>, model: string, secret?: string) {
  const config = configSchema.parse({ version: 1, groups: [{ id: 'g' }], ...input });
  const keySecrets = secret === undefined ? [] : [['key/k', secret] as const];
  const snapshot = compileSnapshot({
    config,
    secrets: new Map(keySecrets),
    discovered: new Map(),
    demo: null,
    ownAddresses: new Set(),
  });
  const key = secret === undefined ? null : ([...snapshot.keys.values()][0] ?? null);
  const group = key ? snapshot.groupOf(key) : snapshot.group('g');
  if (!group) throw new Error('there is no group');
  const health = new HealthTracker({ nowMs: () => 1 });
  const order = { health, typicalPrice: () => null, strategy: group.policy.strategy, wallMs: 1 };
  return explainRoute({
    ...{ snapshot, group, key, model },
    explainOrder: (targets) => explainOrder(targets, order),
    explainWires,
  });
}

function explain(input: Partial<ConfigInput>, model: string, secret?: string) {
  const { candidates, refusal } = explainWhole(input, model, secret);
  return {
    refusal: refusal?.code ?? null,
    lines: candidates.map(({ provider, isTaken, model: name, reason }) => [provider, isTaken ? name : null, reason]),
  };
}

describe('an explained route', () => {
  test('tells the alias of the key alone from the one for all, and which of its targets the group does not allow', () => {
    const targets = (...providers: string[]) => providers.map((provider) => ({ provider, model: 'm' }));
    const input: Partial<ConfigInput> = {
      providers: ['all', 'own', 'barred', 'other'].map((id) => ({ id, baseUrl, models: ['m'] })),
      aliases: [{ name: 'fast', targets: targets('all') }],
      groups: [{ id: 'g', deny: ['barred/m'] }],
      keys: [{ id: 'k', group: 'g', secret: 'env:K', aliases: [{ name: 'fast', targets: targets('own', 'barred') }] }],
    };
    const ownAlias = 'the key\'s own alias "fast"';
    expect(explain(input, 'fast', 'sk-own')).toEqual({
      refusal: null,
      lines: [
        ['own', 'm', `${ownAlias} leads to it`],
        ['all', null, `${ownAlias} does not lead to it`],
        ['barred', null, 'group "g" does not allow this model name'],
        ['other', null, `${ownAlias} does not lead to it`],
      ],
    });
    expect(explain(input, 'fast').lines[0]).toEqual(['all', 'm', 'the alias "fast" leads to it']);
  });

  test('follows the order of the group, and names those that take any name last', () => {
    const input: Partial<ConfigInput> = {
      providers: [
        { id: 'any', baseUrl, models: ['*'] },
        { id: 'second', baseUrl, models: ['m'] },
        { id: 'first', baseUrl, models: ['m'] },
      ],
      groups: [{ id: 'g', order: [{ provider: 'first' }] }],
    };
    expect(explain(input, 'm')).toEqual({
      refusal: null,
      lines: [
        ['first', 'm', 'it serves this model'],
        ['second', 'm', 'it serves this model'],
        ['any', 'm', 'it takes any model name'],
      ],
    });
  });

  test('takes a name with a slash for a model where one is so called, and else for an address', () => {
    const providers = [
      { id: 'router', baseUrl, models: ['main/m'] },
      { id: 'main', baseUrl, models: ['m', 'n'] },
    ];
    expect(explain({ providers }, 'main/m').lines).toEqual([
      ['router', 'main/m', 'it serves this model'],
      ['main', null, 'it is not known to serve this model'],
    ]);
    expect(explain({ providers }, 'main/n').lines).toEqual([
      ['main', 'n', 'the model name addresses it'],
      ['router', null, 'the model name addresses provider "main"'],
    ]);
  });

  test('judges an address by the model that it means, for the group and for the key', () => {
    const input: Partial<ConfigInput> = {
      providers: [{ id: 'main', baseUrl, models: ['m', 'n'] }],
      groups: [{ id: 'g', models: ['m'] }],
      keys: [{ id: 'k', group: 'g', secret: 'keychain', models: ['n'] }],
    };
    expect(explain(input, 'main/n')).toEqual({
      refusal: 'model_not_found',
      lines: [['main', null, 'group "g" does not allow this model name']],
    });
    expect(explain(input, 'main/m').refusal).toBeNull();
    expect(explain(input, 'main/m', 'secret')).toEqual({
      refusal: 'model_not_found',
      lines: [['main', null, 'the list of key "k" does not allow this model name']],
    });
  });

  test('says which answer a client gets when all that serve the model are off', () => {
    const providers = [{ id: 'main', baseUrl, models: ['m'], enabled: false }];
    expect(explain({ providers }, 'm')).toEqual({
      refusal: 'no_healthy_provider',
      lines: [['main', null, 'it is switched off']],
    });
    expect(explain({ providers: [] }, 'm')).toEqual({ refusal: 'model_not_found', lines: [] });
  });
});

describe('for each API of clients', () => {
  const providers = [{ id: 'main', baseUrl, models: ['m'] }];
  const ways = explainWhole({ providers }, 'm').candidates[0]?.wires ?? [];

  test('it is told whether they are asked as they are or through a translation', () => {
    const told = ways.map(({ client, upstream }) => [client, upstream]);
    expect(told).toContainEqual(['openai-chat', 'openai-chat']);
    expect(told).toContainEqual(['anthropic-messages', 'openai-chat']);
  });

  test('it is told what of its fields a request would lose, and nothing where nothing is translated', () => {
    const way = (client: string) => ways.find((each) => each.client === client);
    expect(way('anthropic-messages')?.dropped).toContainEqual({ code: 'no-equal', field: 'top_k', times: 1 });
    expect(way('openai-chat')).toMatchObject({ dropped: [], emulated: [] });
  });

  test('nothing is told of providers that are left out', () => {
    const groups = [{ id: 'g', providers: ['none'] }];
    expect(explainWhole({ providers, groups }, 'm').candidates).toMatchObject([{ isTaken: false, wires: [] }]);
  });
});
