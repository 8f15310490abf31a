import { describe, expect, it } from 'vitest';
import { optionGroups } from '../../../../renderer/components/selects/model-options.ts';
import { en } from '../../../../renderer/messages/en/en.ts';
import { well } from '../../../support/stand-ins.ts';

const model = (id: string, provider: string, isAlias = false) => ({
  ...{ id, ownedBy: provider, providers: [provider], isAlias, contextTokens: null, price: null },
  health: well,
});
const models = [
  model('fast', 'main', true),
  model('gpt-a', 'main'),
  model('whisper-1', 'main'),
  model('qwen', 'local'),
];
const names = { ...en.models.picker, providerName: (id: string) => id.toUpperCase() };

function shown(search: string, { mostUsed = ['qwen', 'whisper-1'], most = 100 } = {}) {
  const groups = optionGroups({ models, mostUsed, use: 'chat' }, search, names, most);
  return groups.map(({ label, models: list }) => [label, ...list.map(({ id }) => id)]);
}

describe('the models to choose from', () => {
  it('begin with the most used ones of that purpose, then aliases, then each provider’s', () => {
    expect(shown('')).toEqual([
      ['Most used', 'qwen'],
      ['Aliases', 'fast'],
      ['MAIN', 'gpt-a', 'whisper-1'],
      ['LOCAL', 'qwen'],
    ]);
  });

  it('are narrowed by what is typed', () => {
    expect(shown(' GPT ')).toEqual([['MAIN', 'gpt-a']]);
    expect(shown('nothing like it')).toEqual([]);
  });

  it('are no more than can be drawn', () => {
    expect(shown('', { most: 2 })).toEqual([
      ['Most used', 'qwen'],
      ['Aliases', 'fast'],
    ]);
  });
});
