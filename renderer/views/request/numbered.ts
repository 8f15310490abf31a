/** Keys for what has no id and never changes its order. */
export function numbered<T>(values: readonly T[]): { key: number; value: T }[] {
  return values.map((value, key) => ({ key, value }));
}
