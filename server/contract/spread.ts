/** Median and range of several measurements of the same quantity. */
export interface Spread {
  median: number;
  least: number;
  most: number;
}

/** Over the known values; null if there are none. */
export function spreadOf(values: readonly (number | null | undefined)[]): Spread | null {
  const known = values.filter((value) => value != null).sort((one, other) => one - other);
  const [least, most] = [known[0], known.at(-1)];
  if (least === undefined || most === undefined) return null;
  const middle = (known.length - 1) / 2;
  const median = ((known[Math.floor(middle)] ?? 0) + (known[Math.ceil(middle)] ?? 0)) / 2;
  return { median, least, most };
}
