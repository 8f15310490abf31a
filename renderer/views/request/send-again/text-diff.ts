export interface DiffPiece {
  key: number;
  /** In which of the two texts it is. */
  side: 'both' | 'first' | 'second';
  text: string;
}

/** Longer texts are compared line by line, since the time for words grows with the square of what differs. */
const mostCompared = 20_000;
/** After it the comparison is given up, and each text is one piece. */
const timeoutMs = 500;

/** Where two texts differ, word by word. The library is loaded when it is first needed. */
export async function diffTexts(first: string, second: string): Promise<readonly DiffPiece[]> {
  const { diffLines, diffWordsWithSpace } = await import('diff');
  const isLong = first.length + second.length > mostCompared;
  const options = { timeout: timeoutMs };
  const changes = isLong ? diffLines(first, second, options) : diffWordsWithSpace(first, second, options);
  const found = changes ?? [
    { value: first, added: false, removed: true },
    { value: second, added: true, removed: false },
  ];
  return found.map(({ value, added, removed }, key) => ({
    key,
    side: added ? 'second' : removed ? 'first' : 'both',
    text: value,
  }));
}
