/**
 * Finds the one range in which two lists differ. Unchanged entries are the same objects, of which there may be very
 * many.
 */

/** The `removed` entries from index `at` on are replaced by `entries`. */
interface Splice<Entry> {
  at: number;
  removed: number;
  entries: readonly Entry[];
}

/** Null if both lists have the same entries. */
export function spliceBetween<Entry>(before: readonly unknown[], after: readonly Entry[]): Splice<Entry> | null {
  if (before === after) return null;
  const shorter = Math.min(before.length, after.length);
  let at = 0;
  while (at < shorter && before[at] === after[at]) at += 1;
  let commonEnd = 0;
  while (commonEnd < shorter - at && before.at(-1 - commonEnd) === after.at(-1 - commonEnd)) commonEnd += 1;
  const removed = before.length - at - commonEnd;
  const entries = after.slice(at, after.length - commonEnd);
  return removed === 0 && entries.length === 0 ? null : { at, removed, entries };
}

/** Null if the splice does not fit, because it was made for a longer list. */
export function spliced<Before, Entry>(
  list: readonly Before[],
  { at, removed, entries }: Splice<Entry>,
): (Before | Entry)[] | null {
  // Spread arguments would fail with too many entries.
  return at + removed <= list.length ? [...list.slice(0, at), ...entries, ...list.slice(at + removed)] : null;
}

/** The entries of `list` that are not in `before`. */
export function entriesNotIn<Entry>(before: readonly Entry[], list: readonly Entry[]): Entry[] {
  const splice = spliceBetween(before, list);
  if (!splice) return [];
  const replaced = new Set(before.slice(splice.at, splice.at + splice.removed));
  return splice.entries.filter((entry) => !replaced.has(entry));
}
