/** The median of what is known, and its range in parentheses: `412 (390-655)`; `-` if nothing is. */
export function spreadOf(values: readonly (number | null)[], decimals = 0): string {
  const known = values.filter((value) => value !== null).sort((one, other) => one - other);
  const [least, most] = [known[0], known.at(-1)];
  if (least === undefined || most === undefined) return '-';
  const middle = (known.length - 1) / 2;
  const median = ((known[Math.floor(middle)] ?? 0) + (known[Math.ceil(middle)] ?? 0)) / 2;
  const shown = [median, least, most].map((value) => String(Number(value.toFixed(decimals))));
  return least === most ? (shown[0] ?? '-') : `${shown[0]} (${shown[1]}-${shown[2]})`;
}
