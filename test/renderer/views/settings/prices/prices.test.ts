import { describe, expect, it } from 'vitest';
import { en } from '../../../../../renderer/messages/en/en.ts';
import { createFormats } from '../../../../../renderer/messages/formats.ts';
import {
  amountsOf,
  describeAmounts,
  draftOf,
  fieldGroups,
  filterRows,
  hasPrice,
  isWrong,
  rowsOf,
} from '../../../../../renderer/views/settings/prices/prices.ts';
import { priceFields } from '../../../../../server/contract/price-views.ts';

describe('a price that is entered', () => {
  it.each(['', ' ', '0', '0.25', '.5', '12.', '0.000000001', ' 3 '])('may be “%s”', (text) => {
    expect(isWrong('input', text)).toBe(false);
  });

  it.each(['-1', '1,5', 'free', '1e3', '0x10', 'NaN', '1.2.3', '$1'])('may not be “%s”', (text) => {
    expect(isWrong('input', text)).toBe(true);
  });

  it.each([
    ['200000', false],
    ['0', true],
    ['1.5', true],
  ])('is a count of tokens if it is whole: “%s”', (text, wrong) => {
    expect(isWrong('longContextAbove', text)).toBe(wrong);
  });

  it('is saved as what it was read from, with amounts of other versions', () => {
    const amounts = { input: 0.0000001, output: 2.5, maxOutput: 64_000, yetUnknown: 3 };
    const draft = draftOf(amounts);
    expect(draft.input).toBe('0.0000001');
    expect(amountsOf(draft, amounts)).toEqual(amounts);
    expect(amountsOf({ ...draft, output: ' ' }, amounts)).toEqual({
      input: 0.0000001,
      maxOutput: 64_000,
      yetUnknown: 3,
    });
  });

  it('is none if only tokens are counted', () => {
    expect(hasPrice(draftOf({ maxOutput: 10 }))).toBe(false);
    expect(hasPrice(draftOf({ request: 0 }))).toBe(true);
  });
});

it('the form has each amount once', () => {
  expect(Object.values(fieldGroups).flat().toSorted()).toEqual(Object.keys(priceFields).toSorted());
});

describe('a price that is shown', () => {
  const text = (amounts: Record<string, number>) =>
    describeAmounts(amounts, { messages: en, formats: createFormats('en', en) });

  it('has all its digits', () => {
    expect(text({ output: 10, input: 0.0375, maxOutput: 1_000 })).toEqual(['Input $0.0375', 'Output $10.00']);
  });

  it('is free of charge only if nothing costs anything', () => {
    expect(text({ request: 0 })).toEqual(['Free of charge']);
    expect(text({ request: 0, input: 1 })).toEqual(['Input $1.00', 'Per request $0.00']);
  });
});

describe('the price list', () => {
  const price = (entry: string, isOwn: boolean) => ({ entry, isOwn, amounts: { input: 1 } });
  const rows = rowsOf(
    [
      { provider: 'p', model: 'vendor/big', price: null, builtIn: null, unpricedRequests: 3 },
      { provider: 'p', model: 'small', price: price('p/small', true), builtIn: null, unpricedRequests: 0 },
      { provider: 'q', model: 'small', price: price('small', false), builtIn: null, unpricedRequests: 0 },
    ],
    { 'p/small': { input: 1 }, gone: { input: 2 } },
  );
  const found = (search: string, kind: 'all' | 'unpriced' | 'own' = 'all') =>
    filterRows(rows, { search, kind, providerName: (id) => (id === 'q' ? 'Quick AI' : id) }).map(
      ({ provider, model }) => `${provider} ${model}`,
    );

  it('ends with own prices that no model uses', () => {
    expect(found('')).toEqual(['p vendor/big', 'p small', 'q small', 'null gone']);
  });

  it('is searched by model, by provider, and by both', () => {
    expect(found('SMALL')).toEqual(['p small', 'q small']);
    expect(found('quick')).toEqual(['q small']);
    expect(found('p/small')).toEqual(['p small']);
    expect(found('quick big')).toEqual([]);
  });

  it('can be of those without a price, or of one’s own', () => {
    expect(found('', 'unpriced')).toEqual(['p vendor/big']);
    expect(found('', 'own')).toEqual(['p small', 'null gone']);
  });
});
