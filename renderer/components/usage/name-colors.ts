/** The colour of a model, provider, key or group. It depends on the name only, not on the metric or amount. */

/** Each contrasts with light and dark surfaces. Red is left out because it means failure. */
const palette = [
  '#2b8a9c',
  '#e8710a',
  '#8b5cf6',
  '#5f8f1f',
  '#d6498f',
  '#3b7dd8',
  '#b08900',
  '#0f9d6b',
  '#a1622f',
  '#7a7fd1',
] as const;

export const othersColor = '#868e96';

/** Assigns colours; names keep theirs as long as the window is open. */
export function createNameColors(): (name: string | null) => string {
  const assigned = new Map<string, string>();
  return (name) => {
    if (name === null) return othersColor;
    let color = assigned.get(name);
    if (color === undefined) {
      color = freeColor(name, new Set(assigned.values()));
      assigned.set(name, color);
    }
    return color;
  };
}

/** The colour that the name hashes to, or the next free one. */
function freeColor(name: string, usedColors: ReadonlySet<string>): string {
  const first = hashOf(name) % palette.length;
  const inOrder = [...palette.slice(first), ...palette.slice(0, first)];
  return inOrder.find((color) => !usedColors.has(color)) ?? palette[first] ?? othersColor;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}

export const colorOf = createNameColors();
