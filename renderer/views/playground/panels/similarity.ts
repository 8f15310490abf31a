import { listAt } from '../../../state/calls/json-path.ts';

/** The vectors of an embeddings reply, in the order of the inputs. */
export function vectorsOf(reply: unknown): number[][] {
  return listAt(reply, 'data').map((entry) =>
    listAt(entry, 'embedding').filter((value): value is number => typeof value === 'number'),
  );
}

/** The cosine of the angle between two vectors: 1 for the same direction, 0 for unrelated ones. */
export function cosineSimilarity(one: readonly number[], other: readonly number[]): number {
  const dot = sum(one.map((value, index) => value * (other[index] ?? 0)));
  const lengths = Math.sqrt(sum(one.map((value) => value ** 2)) * sum(other.map((value) => value ** 2)));
  return lengths === 0 ? 0 : dot / lengths;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
