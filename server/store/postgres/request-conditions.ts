/** The conditions of a request filter in PostgreSQL's SQL, and the days on which matching requests can be. */

import { dayMs } from '../../contract/units.ts';
import { allOf, anyOf, isAmong, raw, type Sql, sql } from '../rules/condition-sql.ts';
import {
  type AskedCondition,
  conditionsOf,
  idFound,
  type NameDimension,
  namesFound,
  notesFound,
  type RequestConditions,
  timesOfId,
} from '../rules/request-conditions.ts';
import { notedPins } from '../sqlite/pins.ts';
import { matchedSql, wordSearch } from './matched-words.ts';
import { orMoved } from './partitions.ts';
import { type Postgres, readRows } from './postgres.ts';

/** Limits the duration of a look-up, because clients choose the names of models and of themselves. */
const mostNames = 2_000;
/** The most captures that a search considers; the newest are used. */
const mostHits = 2_000;

/** The condition of a filter. */
export async function conditionOf(postgres: Postgres, filter: RequestConditions): Promise<Sql> {
  const conditions = conditionsOf(filter).flatMap((asked) => [asked.condition, ...daysOf(asked)]);
  const search = filter.search?.trim() ?? '';
  if (search !== '') conditions.push(await searched(postgres, search));
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
async function searched(postgres: Postgres, search: string): Promise<Sql> {
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
  const noted = notesFound(search, (await postgres.ask(notedPins)).rows);
  if (noted.length > 0) {
    const days = new Set(noted.map(({ startedAt }) => Math.floor(startedAt / dayMs)));
    found.push(
      allOf([
        moved(isAmong('day', [...days])),
        isAmong(
          'id',
          noted.map(({ id }) => id),
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
