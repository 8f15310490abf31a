/** Median and range of several measurements of the same quantity. */
interface Spread {
  median: number;
  least: number;
  most: number;
}

/** Over the known values; null if there are none. */
export function spreadOf(values: readonly (number | null | undefined)[]): Spread | null {
  const numbers = values.filter((value) => value != null).sort((one, other) => one - other);
  const [least, most] = [numbers[0], numbers.at(-1)];
  if (least === undefined || most === undefined) return null;
  const middle = (numbers.length - 1) / 2;
  const median = ((numbers[Math.floor(middle)] ?? 0) + (numbers[Math.ceil(middle)] ?? 0)) / 2;
  return { median, least, most };
}
