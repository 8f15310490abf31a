import { describe, expect, it } from 'vitest';
import {
  draftsOf,
  ranksOf,
  sharesRankWithOthers,
  targetsOf,
} from '../../../../../renderer/views/models/aliases/alias-draft.ts';

const target = (provider: string, priority: number, weight = 1) => ({ provider, model: 'm', priority, weight });

describe('the targets of an alias as they are typed', () => {
  it('are in the order in which they are asked', () => {
    const drafts = draftsOf({ targets: [target('last', 7), target('first', 0), target('equal', 0, 3)] });
    expect(drafts.map(({ provider, sharesRank }) => [provider, sharesRank])).toEqual([
      ['first', false],
      ['equal', true],
      ['last', false],
    ]);
    expect(drafts.map((_, index) => sharesRankWithOthers(drafts, index))).toEqual([true, true, false]);
  });

  it('get ranks without gaps', () => {
    const drafts = draftsOf({ targets: [target('a', 3), target('b', 3, 2), target('c', 9)] });
    expect(targetsOf(drafts)).toEqual([target('a', 0), target('b', 0, 2), target('c', 1)]);
  });

  it('keep a context size that the form does not show', () => {
    const sized = { ...target('a', 0), contextTokens: 8_192 };
    expect(targetsOf(draftsOf({ targets: [sized] }))).toEqual([sized]);
  });

  it('begin at the first rank, also when one that shared was moved to the top', () => {
    const [first, second] = draftsOf({ targets: [target('a', 0), target('b', 0)] });
    if (!first || !second) throw new Error('two targets make two drafts');
    expect(targetsOf([second, first])).toEqual([target('b', 0), target('a', 1)]);
  });
});

const targetOf = (model: string, priority: number, weight: number) => ({ provider: 'main', model, priority, weight });

it('an alias leads to ranks in order, and to shares within a rank', () => {
  const targets = [targetOf('c', 1, 5), targetOf('a', 0, 3), targetOf('b', 0, 1)];
  expect(ranksOf({ targets }).map((rank) => rank.map(({ model, share }) => [model, share]))).toEqual([
    [
      ['a', 0.75],
      ['b', 0.25],
    ],
    [['c', 1]],
  ]);
});

it('targets without any weight share alike', () => {
  expect(ranksOf({ targets: [targetOf('a', 0, 0), targetOf('b', 0, 0)] })[0]?.map(({ share }) => share)).toEqual([
    0.5, 0.5,
  ]);
});
