export interface DiffPiece {
  key: number;
  /** Which of the two texts contains it. */
  side: 'both' | 'first' | 'second';
  text: string;
}

/** Longer texts are compared by line, because comparing by word takes time quadratic in the differences. */
const mostCompared = 20_000;
/** After this time the comparison is abandoned, and each text becomes one piece. */
const timeoutMs = 500;

/** Compares two texts word by word. The library is loaded on first use. */
export async function diffTexts(first: string, second: string): Promise<readonly DiffPiece[]> {
  const { diffLines, diffWordsWithSpace } = await import('diff');
  const isLong = first.length + second.length > mostCompared;
  const options = { timeout: timeoutMs };
  const changes = isLong ? diffLines(first, second, options) : diffWordsWithSpace(first, second, options);
  const parts = changes ?? [
    { value: first, added: false, removed: true },
    { value: second, added: true, removed: false },
  ];
  return parts.map(({ value, added, removed }, key) => ({
    key,
    side: added ? 'second' : removed ? 'first' : 'both',
    text: value,
  }));
}

/** What is left of a long part that does not differ: so many lines at both of its ends. */
const linesAround = 3;

/** Without the middle of a long text, of which `describe` says how many lines it has. */
export function foldedText(text: string, describe: (lines: number) => string): string {
  const lines = text.split('\n');
  const left = lines.length - 2 * linesAround;
  if (left < linesAround) return text;
  return [...lines.slice(0, linesAround), describe(left), ...lines.slice(-linesAround)].join('\n');
}
