import { wordsOf } from '../../ledger/searchable-text.ts';

/**
 * A query of PostgreSQL's full-text search for texts with all words of the search; the last one may be the beginning of a word.
 * Null if the search contains no word.
 */
export function matchedWords(search: string): string | null {
  const words = wordsOf(search).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return null;
  const quoted = words.map((word) => `'${word.replaceAll(/['\\]/g, '')}'`);
  return `${quoted.join(' & ')}:*`;
}
