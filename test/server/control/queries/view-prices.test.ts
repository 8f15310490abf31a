import { describe, expect, test } from 'vitest';
import { priceFields } from '../../../../server/contract/price-views.ts';
import { viewPrices } from '../../../../server/control/queries/view-models.ts';
import { createPriceTable, shippedPrices } from '../../../../server/models/price-table.ts';
import table from '../../../../server/models/prices.json' with { type: 'json' };
import { snapshotOf } from '../../../support/providers.ts';

const own = { 'main/rare': { input: 1 }, 'gpt-4o': { input: 7, output: 9 } };
const presetOf = (provider: string) => (provider === 'mine' ? 'groq' : undefined);

function view(unpriced: Parameters<typeof viewPrices>[0]['unpriced'] = []) {
  const baseUrl = 'https://api.example/v1';
  const { providers } = snapshotOf({
    providers: [
      { id: 'main', baseUrl, models: ['rare', 'gpt-4o', 'unheard-of'] },
      { id: 'mine', baseUrl, models: ['llama-3.1-8b-instant'] },
      { id: 'demo', baseUrl, models: ['demo-chat'] },
    ],
    groups: [{ id: 'default' }],
  });
  const prices = createPriceTable(own, { presetOf });
  const renewal = {
    mode: 'off',
    address: '',
    date: '2026-11-28',
    checkedAt: null,
    failure: null,
    waiting: [],
  } as const;
  return viewPrices({
    providers,
    prices,
    priced: { presetOf },
    unpriced,
    list: shippedPrices,
    renewal: { ...renewal, waiting: [] },
  }).models;
}

describe('the prices of models', () => {
  test('tell what applies and where it is from, and what would apply without own prices', () => {
    expect(view()).toMatchObject([
      { model: 'gpt-4o', price: { entry: 'gpt-4o', isOwn: true, amounts: { input: 7 } }, builtIn: { isOwn: false } },
      {
        provider: 'mine',
        model: 'llama-3.1-8b-instant',
        price: { entry: 'groq/llama-3.1-8b-instant', isOwn: false },
      },
      { model: 'rare', price: { entry: 'main/rare', isOwn: true, amounts: { input: 1 } }, builtIn: null },
      { model: 'unheard-of', price: null, builtIn: null, unpricedRequests: 0 },
    ]);
  });

  test('begin with those that were used without a price, listed or not', () => {
    const found = view([
      { provider: 'main', model: 'unlisted', requests: 9 },
      { provider: 'main', model: 'unheard-of', requests: 2 },
      // This model now has a price, so it is not among those that need one.
      { provider: 'main', model: 'rare', requests: 5 },
      { provider: 'removed', model: 'gone', requests: 5 },
    ]);
    expect(found.map(({ model, unpricedRequests }) => [model, unpricedRequests])).toEqual([
      ['unlisted', 9],
      ['unheard-of', 2],
      ['gpt-4o', 0],
      ['llama-3.1-8b-instant', 0],
      ['rare', 0],
    ]);
  });
});

test('every amount of the built-in table can be shown and changed', () => {
  const used = table.services
    .flatMap(({ models }) => Object.values<Record<string, number>>(models))
    .flatMap(Object.keys);
  expect(Object.keys(priceFields)).toEqual(expect.arrayContaining([...new Set(used)]));
});
