/**
 * The number that a value of parsed JSON, or a text of a form, states; NaN if it is neither. `Number` would throw for an
 * object with a member `toString`, and for deeply nested lists.
 */
export function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

/** The same for a count; null if it is not one. */
export function wholeNumberOf(value: unknown): number | null {
  const number = numberOf(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}
