import { describe, expect, it } from 'vitest';
import { aliasFor, type Choosing, choicesOf, found } from '../../../renderer/panel/switch-target.ts';
import type { RouteCandidate } from '../../../server/contract/access-views.ts';

const candidate = (provider: string, model: string | null): RouteCandidate => ({
  provider,
  name: provider.toUpperCase(),
  isTaken: model !== null,
  model,
  health: null,
  credentials: [],
  firstByteMs: null,
  priceUsd: null,
  place: null,
  priority: null,
  weight: null,
  wires: [],
  why: { code: 'not-served' },
  reason: '',
});
const target = (provider: string, model: string, priority: number, weight = 1) => ({
  ...{ provider, model, priority, weight },
});
const models = [
  { id: 'fast', isAlias: true, providers: ['a'] },
  { id: 'x', isAlias: false, providers: ['a', 'b'] },
  { id: 'y', isAlias: false, providers: ['c'] },
  { id: 'c/banned-elsewhere', isAlias: false, providers: ['c'] },
];
const ofAlias: Choosing = {
  name: 'fast',
  own: null,
  alias: { name: 'fast', targets: [target('b', 'x', 3), target('off', 'z', 4, 0.5), target('a', 'x', 1)] },
  route: { candidates: [candidate('a', 'x'), candidate('b', 'x'), candidate('c', null)] },
  models,
};
const ofModel: Choosing = {
  ...{ name: 'x', alias: null, own: null, models },
  route: { candidates: [candidate('a', 'x'), candidate('b', 'x'), candidate('c', null)] },
};
const said = (choosing: Choosing) => choicesOf(choosing).map(({ provider, model }) => `${provider}/${model}`);

describe('what can answer', () => {
  it('begins with whoever would be called, and has each target once and no alias', () => {
    expect(said(ofAlias)).toEqual(['a/x', 'b/x', 'off/z', 'c/y', 'c/banned-elsewhere']);
    expect(said(ofModel)).toEqual(['a/x', 'b/x', 'c/y', 'c/banned-elsewhere']);
    expect(choicesOf(ofAlias)[0]?.providerName).toBe('A');
  });

  it('is found by words of the model and of the provider', () => {
    const choices = choicesOf(ofAlias);
    expect(found(choices, ' B x ').map(({ provider }) => provider)).toEqual(['b']);
    expect(found(choices, '')).toHaveLength(5);
    expect(found(choices, 'none')).toEqual([]);
  });
});

describe('the alias', () => {
  it('gets the chosen target first and keeps the others after it, with their weights and in their order', () => {
    expect(aliasFor(ofAlias, { provider: 'off', providerName: '', model: 'z' })).toEqual({
      name: 'fast',
      targets: [target('off', 'z', 0, 0.5), target('a', 'x', 1), target('b', 'x', 2)],
    });
    expect(aliasFor(ofAlias, { provider: 'c', providerName: '', model: 'y' }).targets).toEqual([
      target('c', 'y', 0),
      ...[target('a', 'x', 1), target('b', 'x', 2), target('off', 'z', 3, 0.5)],
    ]);
  });

  it('is made of whoever answered before, where there was none', () => {
    expect(aliasFor(ofModel, { provider: 'b', providerName: '', model: 'x' })).toEqual({
      name: 'x',
      targets: [target('b', 'x', 0), target('a', 'x', 1)],
    });
  });
});
