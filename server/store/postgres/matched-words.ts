/**
 * Words in the form in which PostgreSQL's full-text search stores and finds them. For languages written without spaces,
 * pairs of characters are stored as well, so that the characters of a search are only found next to each other. This is
 * necessary because PostgreSQL stores only the first 256 positions of each word.
 */
import { isWordCharacter, wordsOf } from '../rules/searchable-text.ts';

/** A searchable text that includes the pairs of its characters. */
export function withPairs(text: string): string {
  const words = realWords(text);
  return [text, ...new Set(words.flatMap((_word, index) => pairAt(words, index) ?? []))].join(' ');
}

/**
 * A query for texts that contain all words of the search. The last word may be a prefix. null if the search contains no
 * word.
 */
export function matchedWords(search: string): string | null {
  const words = search.split(/\s+/).flatMap((part) => searchedWords(realWords(part)));
  if (words.length === 0) return null;
  const quoted = words.map((word) => `'${word.replaceAll(/['\\]/g, '')}'`);
  return `${quoted.join(' & ')}:*`;
}

/** The pairs of adjacent characters. */
function searchedWords(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const pair = pairAt(words, index);
    if (pair !== null) return [pair];
    return index > 0 && pairAt(words, index - 1) !== null ? [] : [word];
  });
}

function pairAt(words: readonly string[], index: number): string | null {
  const [word = '', next = ''] = [words[index], words[index + 1]];
  return isWordCharacter(word) && isWordCharacter(next) ? word + next : null;
}

/** The words without punctuation. */
function realWords(text: string): string[] {
  return wordsOf(text).filter((word) => /[\p{L}\p{N}]/u.test(word));
}
