/**
 * The number that a value of parsed JSON, or a text of a form, states; NaN if it is neither. `Number` would throw for an
 * object with a member `toString`, and for deeply nested lists.
 */
export function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}
