/** The colour of a model, provider, key or group: it belongs to the name, whatever is counted and however much. */

/** Each stands out from light and dark surfaces. Red is not among them: it means failure. */
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

/** Colours that were given away; names keep theirs as long as the window is open. */
export function createNameColors(): (name: string | null) => string {
  const given = new Map<string, string>();
  return (name) => {
    if (name === null) return othersColor;
    let color = given.get(name);
    if (color === undefined) {
      color = freeColor(name, new Set(given.values()));
      given.set(name, color);
    }
    return color;
  };
}

/** The one that the name leads to, or the next that nobody has. */
function freeColor(name: string, taken: ReadonlySet<string>): string {
  const first = hashOf(name) % palette.length;
  const inOrder = [...palette.slice(first), ...palette.slice(0, first)];
  return inOrder.find((color) => !taken.has(color)) ?? palette[first] ?? othersColor;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}

export const colorOf = createNameColors();
