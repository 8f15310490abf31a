/**
 * Words as PostgreSQL's full-text search stores and finds them. Characters of languages that are written without spaces are also stored
 * in pairs, so that those of a search are found only beside one another: PostgreSQL knows just the first 256 places of each word.
 */
import { isWordCharacter, wordsOf } from '../../ledger/searchable-text.ts';

/** A searchable text with the pairs of its characters. */
export function withPairs(text: string): string {
  const words = realWords(text);
  return [text, ...new Set(words.flatMap((_word, index) => pairAt(words, index) ?? []))].join(' ');
}

/**
 * A query for texts with all words of the search; the last one may be the beginning of a word. Null if the search contains no word.
 */
export function matchedWords(search: string): string | null {
  const words = search.split(/\s+/).flatMap((part) => searchedWords(realWords(part)));
  if (words.length === 0) return null;
  const quoted = words.map((word) => `'${word.replaceAll(/['\\]/g, '')}'`);
  return `${quoted.join(' & ')}:*`;
}

/** Pairs, where characters stand beside one another. */
function searchedWords(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const pair = pairAt(words, index);
    if (pair !== null) return [pair];
    return index > 0 && pairAt(words, index - 1) !== null ? [] : [word];
  });
}

function pairAt(words: readonly string[], index: number): string | null {
  const [one = '', other = ''] = [words[index], words[index + 1]];
  return isWordCharacter(one) && isWordCharacter(other) ? one + other : null;
}

/** Without punctuation. */
function realWords(text: string): string[] {
  return wordsOf(text).filter((word) => /[\p{L}\p{N}]/u.test(word));
}
