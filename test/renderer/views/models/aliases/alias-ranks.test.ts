import { expect, it } from 'vitest';
import { ranksOf } from '../../../../../renderer/views/models/aliases/alias-ranks.ts';

const target = (model: string, priority: number, weight: number) => ({ provider: 'main', model, priority, weight });

it('an alias leads to ranks in order, and to shares within a rank', () => {
  const targets = [target('c', 1, 5), target('a', 0, 3), target('b', 0, 1)];
  expect(ranksOf({ targets }).map((rank) => rank.map(({ model, share }) => [model, share]))).toEqual([
    [
      ['a', 0.75],
      ['b', 0.25],
    ],
    [['c', 1]],
  ]);
});

it('targets without any weight share alike', () => {
  expect(ranksOf({ targets: [target('a', 0, 0), target('b', 0, 0)] })[0]?.map(({ share }) => share)).toEqual([
    0.5, 0.5,
  ]);
});
