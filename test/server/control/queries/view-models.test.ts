import { describe, expect, test } from 'vitest';
import { type ModelFacts, viewModels } from '../../../../server/control/queries/view-models.ts';
import { createPriceTable } from '../../../../server/models/price-table.ts';
import { snapshotOf } from '../../../support/providers.ts';
import { well } from '../../../support/stand-ins.ts';

const prices = createPriceTable();
const refused = { ...well, state: 'refused', failure: 'credential' } as const;
const facts: ModelFacts = {
  price: ({ provider, model }) => prices.tokenPrice(provider.id, model ?? ''),
  health: () => well,
};

function view(health: ModelFacts['health'] = facts.health) {
  const baseUrl = 'https://api.example/v1';
  const snapshot = snapshotOf({
    providers: [
      { id: 'main', baseUrl, models: ['gpt-4o', 'unheard-of'], contextTokens: 128_000 },
      { id: 'any', baseUrl, models: ['*'] },
    ],
    aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'gpt-4o' }] }],
    groups: [{ id: 'default' }],
  });
  const group = snapshot.group('default');
  if (!group) throw new Error('unreachable');
  return viewModels({ group, key: null }, { modelFacts: { ...facts, health } });
}

describe('a model that may be used', () => {
  test('is told with its price, its context, and whether it is an alias', () => {
    expect(view()).toEqual([
      expect.objectContaining({ id: 'fast', isAlias: true, price: { inputUsd: 2.5, outputUsd: 10 }, health: well }),
      expect.objectContaining({ id: 'gpt-4o', isAlias: false, contextTokens: 128_000, providers: ['main', 'any'] }),
      expect.objectContaining({ id: 'unheard-of', price: null }),
    ]);
  });

  test('is not served by one that takes any name while its credential is refused', () => {
    const refusing = view(({ provider }) => (provider.id === 'any' ? refused : well));
    expect(refusing.map(({ providers }) => providers)).toEqual([['main'], ['main'], ['main']]);
  });

  test('does as well as the best of its targets', () => {
    const cooling = { ...well, state: 'cooling', failure: 'rate-limit' } as const;
    const views = view(({ provider }) => (provider.id === 'any' ? cooling : refused));
    expect(views.map(({ health }) => health.state)).toEqual(['refused', 'cooling', 'cooling']);
  });
});

test('free of charge is a price, and a price by the second is none by tokens', () => {
  expect(prices.tokenPrice('demo', 'demo-chat')).toEqual({ inputUsd: 0, outputUsd: 0 });
  expect(prices.tokenPrice('main', 'whisper-1')).toBeNull();
  expect(prices.tokenPrice('main', 'text-embedding-3-small')).toEqual({ inputUsd: 0.02, outputUsd: null });
});
