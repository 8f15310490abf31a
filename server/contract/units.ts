/** Units of time and size, in milliseconds and bytes, and counts with their nouns. */

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
/** Usage is summed up by quarters of an hour. */
export const quarterMs = 15 * minuteMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;
export const gibibyte = 1024 * mebibyte;
export const megabyte = 1_000_000;

/**
 * A count with its English noun: `1 token`, `2 tokens`.
 * @param count a number, or a formatted one such as `1,200` or `3.8M`
 * @param many the plural, if adding an `s` is not enough
 */
export function counted(count: string | number, one: string, many = `${one}s`): string {
  return `${count} ${String(count) === '1' ? one : many}`;
}
