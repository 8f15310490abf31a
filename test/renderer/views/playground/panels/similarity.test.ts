import { describe, expect, it } from 'vitest';
import { cosineSimilarity, vectorsOf } from '../../../../../renderer/views/playground/panels/similarity.ts';

describe('similarity', () => {
  it.each([
    [[1, 0], [2, 0], 1],
    [[1, 0], [0, 3], 0],
    [[1, 1], [-1, -1], -1],
    [[0, 0], [1, 1], 0],
  ])('of %j and %j is %s', (one, other, expected) => {
    expect(cosineSimilarity(one, other)).toBeCloseTo(expected);
  });

  it('finds no vectors in what is no embeddings reply', () => {
    expect(vectorsOf({ error: {} })).toEqual([]);
    expect(vectorsOf(null)).toEqual([]);
  });
});
