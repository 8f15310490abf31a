/** The conditions of a request filter in PostgreSQL's SQL, and the days on which matching requests can be. */

import { dayMs } from '../../contract/units.ts';
import { allOf, anyOf, isAmong, raw, type Sql, sql } from '../rules/condition-sql.ts';
import {
  type AskedCondition,
  conditionsOf,
  type FoundRequest,
  idFound,
  type NameDimension,
  namesFound,
  notesFound,
  type RequestConditions,
  timesOfId,
} from '../rules/request-conditions.ts';
import { isWordCharacter, phrasesOf, runsOf } from '../rules/searchable-text.ts';
import { notedPins } from '../sqlite/request-filter.ts';
import { orMoved } from './partitions.ts';
import { type Postgres, readRows } from './postgres.ts';

// The words of a text as a `tsvector`, and a search for them as a `tsquery`. PostgreSQL's own parser is not used, because it
// takes an address, a path or a version as one word.
//
// PostgreSQL keeps limited positions of each word. Where they are not enough to see that two words are side by side, the
// pair is stored as a word of its own. It begins with a space, so that no beginning of a word is found in it: PostgreSQL
// does not look at the positions of several words with the same beginning if one of them has none.

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
function wordSearch(search: string): WordSearch | null {
  const phrases = phrasesOf(search);
  if (phrases.length === 0) return null;
  const query = phrases.map((words, index) => phraseQuery(words, index === phrases.length - 1)).join(' & ');
  return { query, earlier: earlierWords(search) };
}

/** The condition that the `tsvector` in a column matches. The placeholders are those of the values of `WordSearch`. */
function matchedSql(column: string, query: string, earlier: string): string {
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

/** Limits the duration of a look-up, because clients choose the names of models and of themselves. */
const mostNames = 2_000;
/** The most captures that a search considers; the newest are used. */
const mostHits = 2_000;

/** The condition of a filter. */
export async function conditionOf(postgres: Postgres, filter: RequestConditions): Promise<Sql> {
  const conditions = conditionsOf(filter).flatMap((asked) => [asked.condition, ...daysOf(asked)]);
  const search = filter.search?.trim() ?? '';
  if (search !== '') conditions.push(await searched(postgres, search, filter.foundElsewhere ?? []));
  return allOf(conditions);
}

/** Only the days are read on which the name occurs, or on which requests of the times can be. */
function daysOf({ names = [], times }: AskedCondition): Sql[] {
  const days: Sql[] = [];
  const [first, ...others] = names;
  // Several names are found by their indexes, and a status is on every day.
  if (first && others.length === 0 && typeof first.names !== 'function') {
    const isNamed = sql`dimension = ${first.dimension} AND ${isAmong('name', first.names)}`;
    days.push(sql`day = ANY(ARRAY(SELECT day FROM request_names WHERE ${isNamed}))`);
  }
  if (times?.sinceMs !== undefined) days.push(moved(sql`day >= ${Math.floor(times.sinceMs / dayMs)}`));
  if (times?.untilMs !== undefined) days.push(moved(sql`day <= ${Math.floor(times.untilMs / dayMs)}`));
  return days;
}

/** A condition on the days of requests, as `orMoved`. */
export const moved =
  (condition: Sql): Sql =>
  (writing) =>
    orMoved(condition(writing));

const matched =
  (column: string, query: string, earlier: string | null): Sql =>
  ({ value }) =>
    matchedSql(column, value(query), value(earlier));

/** In ids, names, errors, captured bodies and notes. */
async function searched(postgres: Postgres, search: string, elsewhere: readonly FoundRequest[]): Promise<Sql> {
  const found: Sql[] = [];
  const ofId = idFound(search);
  if (ofId) found.push(ofId.condition);
  const words = wordSearch(search);
  if (words !== null) {
    found.push(matched('errors', words.query, words.earlier));
    found.push(...(await captured(postgres, matched('words', words.query, words.earlier))));
  }
  const ofNames = namesFound(search, {
    model: await recordedNames(postgres, 'model'),
    provider: await recordedNames(postgres, 'provider'),
    client: await recordedNames(postgres, 'client'),
    error: await recordedNames(postgres, 'error'),
  });
  const byId = [...notesFound(search, (await postgres.ask(notedPins)).rows), ...elsewhere];
  if (byId.length > 0) {
    const days = new Set(byId.map(({ startedAt }) => Math.floor(startedAt / dayMs)));
    found.push(
      allOf([
        moved(isAmong('day', [...days])),
        isAmong(
          'id',
          byId.map(({ id }) => id),
        ),
      ]),
    );
  }
  return anyOf([...found, ...ofNames.map(({ condition }) => condition)]);
}

/** Requests whose capture matches. Each begins on the day of its capture, on the day before, or on that of its id. */
async function captured(postgres: Postgres, matches: Sql): Promise<Sql[]> {
  const hits = sql`SELECT day, id FROM captures WHERE ${matches} ORDER BY captured_at DESC LIMIT ${raw(String(mostHits))}`;
  const rows = await readRows(postgres, hits);
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => String(id));
  const days = new Set(rows.flatMap(({ day }) => [Number(day), Number(day) - 1]));
  for (const id of ids) days.add(Math.floor((timesOfId(id)?.sinceMs ?? 0) / dayMs));
  return [allOf([moved(isAmong('day', [...days])), isAmong('id', ids)])];
}

/** In alphabetical order. */
export async function recordedNames(postgres: Postgres, dimension: NameDimension): Promise<string[]> {
  const { rows } = await postgres.ask(
    `SELECT DISTINCT name COLLATE "C" AS name FROM request_names WHERE dimension = $1 ORDER BY 1 LIMIT ${mostNames}`,
    dimension,
  );
  return rows.map(({ name }) => String(name));
}
