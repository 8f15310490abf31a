/**
 * A count with its English noun: `1 token`, `2 tokens`.
 * @param count a number, or a formatted one such as `1,200` or `3.8M`
 * @param many the plural, if adding an `s` is not enough
 */
export function counted(count: string | number, one: string, many = `${one}s`): string {
  return `${count} ${String(count) === '1' ? one : many}`;
}
