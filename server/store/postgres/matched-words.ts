import { wordsOf } from '../../ledger/searchable-text.ts';

/**
 * A PostgreSQL full-text query for texts that contain all words of the search. The last word may be a prefix. null if
 * the search contains no word.
 */
export function matchedWords(search: string): string | null {
  const words = wordsOf(search).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return null;
  const quoted = words.map((word) => `'${word.replaceAll(/['\\]/g, '')}'`);
  return `${quoted.join(' & ')}:*`;
}
