/** What was probably meant by a name that does not exist. */

/** Bounds the work to some milliseconds: clients choose the name's length, providers that of the list. */
const maxCells = 1_000_000;

/** The name most similar to `wanted`; null if none is similar enough. Pure. */
export function nearestName(
  wanted: string,
  names: Iterable<string>,
  mostDistance = Math.max(3, Math.ceil(wanted.length * 0.4)),
): string | null {
  let best: string | null = null;
  let bestDistance = mostDistance + 1;
  let cells = 0;
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) >= bestDistance) continue;
    cells += name.length * wanted.length;
    if (cells > maxCells) break;
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaceCost = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaceCost, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
