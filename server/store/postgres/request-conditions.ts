/** The conditions of a request filter in PostgreSQL's SQL, and the days on which matching requests can be. */

import { comparisonOf } from '../../contract/comparison.ts';
import type { Within } from '../../contract/people.ts';
import { dayMs } from '../../contract/units.ts';
import { postgresNotation, rowSql } from '../rules/condition-sql.ts';
import {
  comparisonsIn,
  containsText,
  measureOf,
  outcomeAsked,
  type RequestConditions,
  type SortColumn,
  timesOfId,
} from '../sqlite/request-filter.ts';
import type { NameDimension } from '../sqlite/request-names.ts';
import { matchedSql, type WordSearch, wordSearch } from './matched-words.ts';
import { orMoved } from './partitions.ts';
import type { Parameter, Postgres } from './postgres.ts';

interface Selection {
  /** `WHERE …`. */
  sql: string;
  values: Parameter[];
}

/** Limits the duration of a look-up, because clients choose the names of models and of themselves. */
const mostNames = 2_000;
/** The most captures that a search considers; the newest are used. */
const mostHits = 2_000;
const capturedSql = `SELECT day, id FROM captures WHERE ${matchedSql('words', '$1', '$2')}
  ORDER BY captured_at DESC LIMIT ${mostHits}`;

const columns: Partial<Record<NameDimension, readonly string[]>> = {
  key: ['key_id'],
  group: ['group_id'],
  provider: ['provider'],
  model: ['model_asked', 'model_served'],
  client: ['client'],
  capability: ['capability'],
  outcome: ['outcome'],
  error: ['error_code'],
};
const searched = ['model', 'provider', 'client', 'error'] as const;

export async function select(postgres: Postgres, filter: RequestConditions): Promise<Selection> {
  const { keyId, groupId, model, provider, client, capability, status, search, sinceMs, untilMs } = filter;
  const selecting = new Selecting();
  const asked = outcomeAsked(filter.outcome);
  const wanted: Partial<Record<NameDimension, string | readonly string[] | undefined>> = {
    key: keyId,
    group: groupId,
    model,
    provider,
    client,
    capability,
    outcome: asked?.outcomes,
  };
  for (const [dimension, name] of Object.entries(wanted)) {
    if (name !== undefined) selecting.named(dimension as NameDimension, typeof name === 'string' ? [name] : name);
  }
  if (filter.within) selecting.within(filter.within);
  if (filter.outcome === 'running') selecting.add('outcome IS NULL');
  if (asked?.condition) selecting.add(rowSql(asked.condition, postgresNotation));
  if (status !== undefined) selecting.status(status);
  for (const each of comparisonsIn(filter)) selecting.compared(each);
  if (sinceMs !== undefined) selecting.since(sinceMs);
  if (untilMs !== undefined) selecting.until(untilMs);
  if (search !== undefined && search.trim() !== '') await selecting.search(postgres, search.trim());
  return selecting.selection;
}

/** The columns by which requests are compared and sorted. */
export const measureColumns: Readonly<Record<SortColumn, string>> = {
  duration: 'total_ms',
  cost: 'cost_usd',
  'first-byte': 'first_byte_ms',
  tokens: `coalesce((usage ->> 'inputTokens')::float8, 0) + coalesce((usage ->> 'outputTokens')::float8, 0)`,
};

class Selecting {
  readonly #conditions: string[] = [];
  readonly #values: Parameter[] = [];

  get selection(): Selection {
    const sql = this.#conditions.length === 0 ? '' : `WHERE ${this.#conditions.join(' AND ')}`;
    return { sql, values: this.#values };
  }

  add(sql: string): void {
    this.#conditions.push(sql);
  }

  /**
   * Matches requests with one of the names in one of the dimension's columns. Only days on which one of the names
   * occurs are read.
   */
  named(dimension: NameDimension, names: readonly string[]): void {
    const placeholder = this.#value(names);
    this.add(this.#has(dimension, placeholder));
    const days = `SELECT day FROM request_names WHERE dimension = ${this.#value(dimension)} AND name = ANY(${placeholder})`;
    this.add(`day = ANY(ARRAY(${days}))`);
  }

  /** Matches requests of one of the keys or one of the groups. */
  within({ keyIds, groupIds }: Within): void {
    this.add(`(key_id = ANY(${this.#value(keyIds)}) OR group_id = ANY(${this.#value(groupIds)}))`);
  }

  status(status: string): void {
    if (status.endsWith('xx')) {
      const low = Number.parseInt(status.replace('xx', '00'), 10);
      this.add(`status BETWEEN ${this.#value(low)} AND ${this.#value(low + 99)}`);
      return;
    }
    const { sign, value } = comparisonOf(status);
    this.add(`status ${sign} ${this.#value(value)}`);
  }

  compared({ field, sign, value }: ReturnType<typeof comparisonsIn>[number]): void {
    this.add(`(outcome IS NOT NULL AND ${measureColumns[measureOf[field]]} ${sign} ${this.#value(value)}::float8)`);
  }

  since(timeMs: number): void {
    const day = this.#value(Math.floor(timeMs / dayMs));
    this.add(`started_at >= ${this.#value(timeMs)} AND ${orMoved(`day >= ${day}`)}`);
  }

  /** Exclusive. */
  until(timeMs: number): void {
    const day = this.#value(Math.floor(timeMs / dayMs));
    this.add(`started_at < ${this.#value(timeMs)} AND ${orMoved(`day <= ${day}`)}`);
  }

  /** Searches ids, names, errors and captured bodies. */
  async search(postgres: Postgres, text: string): Promise<void> {
    const alternatives: string[] = [];
    if (timesOfId(text)) alternatives.push(`starts_with(id, ${this.#value(text.toLowerCase())})`);
    const words = wordSearch(text);
    if (words !== null) {
      alternatives.push(
        matchedSql('errors', this.#value(words.query), this.#value(words.earlier)),
        ...(await this.#conditionsOfCaptures(postgres, words)),
      );
    }
    for (const dimension of searched) {
      const names = (await recordedNames(postgres, dimension)).filter((name) => containsText(name, text));
      if (names.length > 0) alternatives.push(this.#has(dimension, this.#value(names)));
    }
    this.add(alternatives.length === 0 ? 'false' : `(${alternatives.join(' OR ')})`);
  }

  /** A request begins on the day of its capture, on the day before, or on that of its id. */
  async #conditionsOfCaptures(postgres: Postgres, words: WordSearch): Promise<string[]> {
    const { rows } = await postgres.ask(capturedSql, words.query, words.earlier);
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => String(id));
    const days = new Set(rows.flatMap(({ day }) => [Number(day), Number(day) - 1]));
    for (const id of ids) days.add(Math.floor((timesOfId(id)?.sinceMs ?? 0) / dayMs));
    return [`(${orMoved(`day = ANY(${this.#value([...days])})`)} AND id = ANY(${this.#value(ids)}))`];
  }

  #has(dimension: NameDimension, placeholder: string): string {
    return `(${(columns[dimension] ?? []).map((column) => `${column} = ANY(${placeholder})`).join(' OR ')})`;
  }

  /** Returns the placeholder of the parameter, such as `$1`. */
  #value(value: Parameter): string {
    return `$${this.#values.push(value)}`;
  }
}

/** In alphabetical order. */
export async function recordedNames(postgres: Postgres, dimension: NameDimension): Promise<string[]> {
  const { rows } = await postgres.ask(
    `SELECT DISTINCT name COLLATE "C" AS name FROM request_names WHERE dimension = $1 ORDER BY 1 LIMIT ${mostNames}`,
    dimension,
  );
  return rows.map(({ name }) => String(name));
}
