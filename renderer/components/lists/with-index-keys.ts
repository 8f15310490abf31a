/** Keys for values that have no id and never change their order. */
export function withIndexKeys<T>(values: readonly T[]): { key: number; value: T }[] {
  return values.map((value, key) => ({ key, value }));
}
