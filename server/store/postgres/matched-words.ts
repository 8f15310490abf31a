/**
 * The words of a text as a `tsvector`, and a search for them as a `tsquery`. PostgreSQL's own parser is not used, because it
 * takes an address, a path or a version as one word.
 *
 * PostgreSQL keeps limited positions of each word. Where they are not enough to see that two words are side by side, the
 * pair is stored as a word of its own. It begins with a space, so that no beginning of a word is found in it: PostgreSQL
 * does not look at the positions of several words with the same beginning if one of them has none.
 */
import { isWordCharacter, phrasesOf, runsOf } from '../rules/searchable-text.ts';

/** `MAXNUMPOS` of PostgreSQL's `tsearch/ts_type.h`, of which it keeps one less. */
const mostPlaces = 255;
/** Greater positions become this one (`MAXENTRYPOS`). Only words that are nowhere before have it, side by side with nothing. */
const lastPlace = 16_383;
/** In each `tsvector` of this form, and in none of those that earlier versions stored with PostgreSQL's parser. */
const mark = `' '`;

/** A `tsvector` of a searchable text. */
export function vectorOf(searchableText: string): string {
  const words = searchableText.split(' ').filter((word) => word !== '');
  const placesOf = new Map<string, number[]>();
  const pairs = new Set<string>();
  for (const [index, word] of words.entries()) {
    const places = placesOf.get(word) ?? [];
    placesOf.set(word, places);
    if (places.length < mostPlaces && index + 2 < lastPlace) places.push(index + 1);
    else for (const first of [index - 1, index]) pairs.add(pairOf(words[first] ?? '', words[first + 1] ?? ''));
  }
  const placed = [...placesOf].map(([word, places]) => `'${word}':${places.join() || lastPlace}`);
  return [mark, ...placed, ...[...pairs].map((pair) => `'${pair}'`)].join(' ');
}

function pairOf(first: string, next: string): string {
  return ` ${first} ${next}`;
}

/** Values for `matchedSql`. */
interface WordSearch {
  /** A `tsquery`. */
  query: string;
  /** For `to_tsquery`: finds texts that an earlier version stored, as that version did. */
  earlier: string | null;
}

/** Null if the search contains no word. */
export function wordSearch(search: string): WordSearch | null {
  const phrases = phrasesOf(search);
  if (phrases.length === 0) return null;
  const query = phrases.map((words, index) => phraseQuery(words, index === phrases.length - 1)).join(' & ');
  return { query, earlier: earlierWords(search) };
}

/** The condition that the `tsvector` in a column matches. The placeholders are those of the values of `WordSearch`. */
export function matchedSql(column: string, query: string, earlier: string): string {
  const foundEarlier = `${column} @@ to_tsquery('simple', ${earlier}) AND NOT ${column} @@ $$${mark}$$::tsquery`;
  return `(${column} @@ ${query}::tsquery OR (${foundEarlier}))`;
}

/** The words side by side. The last one may be the beginning of a word. */
function phraseQuery(words: readonly string[], isBeginning: boolean): string {
  const ending = isBeginning ? ':*' : '';
  const sideBySide = `${words.map((word) => `'${word}'`).join(' <-> ')}${ending}`;
  if (words.length === 1) return sideBySide;
  const pairs = words.slice(1).map((word, index) => {
    const end = index === words.length - 2 ? ending : '';
    const before = words[index] ?? '';
    return { stored: `'${pairOf(before, word)}'${end}`, placed: `'${before}' <-> '${word}'${end}` };
  });
  const anyhow = pairs.map(({ stored, placed }) => `(${placed} | ${stored})`).join(' & ');
  const anyStored = pairs.map(({ stored }) => stored).join(' | ');
  return `(${sideBySide} | (${anyhow} & (${anyStored})))`;
}

/** The search in the form of versions that had PostgreSQL's parser split the runs of a text, and stored pairs of characters. */
function earlierWords(search: string): string | null {
  const words = search
    .split(/\s+/)
    .flatMap((part) => withPairs(runsOf(part).filter((run) => /[\p{L}\p{N}]/u.test(run))))
    .map((word) => `'${word.replaceAll(/['\\\0\ud800-\udfff]/g, '')}'`);
  return words.length === 0 ? null : `${words.join(' & ')}:*`;
}

/** The words, and instead of characters of a language without spaces the pairs of those that are side by side. */
function withPairs(words: readonly string[]): string[] {
  const pairAt = (index: number) => {
    const [word = '', next = ''] = [words[index], words[index + 1]];
    return isWordCharacter(word) && isWordCharacter(next) ? word + next : null;
  };
  return words.flatMap((word, index) => {
    const pair = pairAt(index);
    if (pair !== null) return [pair];
    return index > 0 && pairAt(index - 1) !== null ? [] : [word];
  });
}
