/**
 * What is read of both databases, written once: parts of statements, which each database renders in its notation, and
 * conditions on records, with the same answer as `predicateOf`, true or false and never null.
 */
import type { Condition } from '../../contract/count.ts';
import type { SqlValue } from './columns.ts';

/** How one of the databases writes what differs. */
export interface SqlNotation {
  /** The placeholder of the value with this number, from 1. */
  placeholder(position: number): string;
  /** A list as a parameter, and the condition that the expression is among it. */
  list(values: readonly (string | number)[]): SqlParameter;
  isAmong(expression: string, placeholder: string): string;
  /** The condition that a text begins with another one, which has no special characters. */
  startsWith(expression: string, placeholder: string): string;
  /** A table that is read by this index, where the planner has to be told. */
  indexed(table: string, index: string): string;
  /** A member of the attempt `attempt`, such as `usage.images`, as text. */
  attemptMember(member: string): string;
  /** A table of the attempts, each as `attempt`. */
  attempts: string;
}

export type SqlParameter = SqlValue | readonly SqlValue[];

/** A part of a statement. Its values are in the order of their placeholders. */
export type Sql = (writing: { notation: SqlNotation; value(parameter: SqlParameter): string }) => string;

/** Values become placeholders. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  return (writing) =>
    texts.reduce((before, text, index) => {
      const part = parts[index - 1] ?? null;
      return `${before}${typeof part === 'function' ? part(writing) : writing.value(part)}${text}`;
    });
}

/** SQL without values. */
export const raw =
  (text: string): Sql =>
  () =>
    text;

/** A number as part of the text: PostgreSQL plans for the number of rows that a limit says. */
export const literal = (number: number) => raw(String(number));

/** The expression is one of the values. */
export function isAmong(expression: string, values: readonly (string | number)[]): Sql {
  const [first, ...others] = values;
  if (first !== undefined && others.length === 0) return sql`${raw(expression)} = ${first}`;
  return ({ notation, value }) => notation.isAmong(expression, value(notation.list(values)));
}

/** True without conditions. */
export const allOf = (conditions: readonly Sql[]): Sql => joined(conditions, ' AND ', 'TRUE');
/** False without conditions. */
export const anyOf = (conditions: readonly Sql[]): Sql => joined(conditions, ' OR ', 'FALSE');

function joined(conditions: readonly Sql[], word: string, empty: string): Sql {
  if (conditions.length === 0) return raw(empty);
  return (writing) => `(${conditions.map((each) => each(writing)).join(word)})`;
}

/** A condition on the current row of `requests`. */
export function holds<T>(condition: Condition<T>): Sql {
  return ({ notation }) => rowSql(condition, notation);
}

/** The text for one of the databases, with its values. */
export function written(part: Sql, notation: SqlNotation): { text: string; values: SqlParameter[] } {
  const values: SqlParameter[] = [];
  const value = (parameter: SqlParameter) => notation.placeholder(values.push(parameter));
  return { text: part({ notation, value }), values };
}

type NameOf = (member: string) => string;

/** The column of a row of `requests`. */
const column: NameOf = (member) => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Of an attempt that is not stored, because it only repeats the row's columns: see `isPlain` in `rows.ts`. */
const plainMember: NameOf = (member) => plainMembers[member] ?? column(member);
const plainMembers: Readonly<Record<string, string>> = { failure: 'NULL', error: 'NULL', model: 'model_served' };

export const sqliteNotation: SqlNotation = {
  placeholder: () => '?',
  list: (values) => JSON.stringify(values),
  isAmong: (expression, placeholder) => `${expression} IN (SELECT value FROM json_each(${placeholder}))`,
  startsWith: (expression, placeholder) => `${expression} GLOB ${placeholder} || '*'`,
  indexed: (table, index) => `${table} INDEXED BY ${index}`,
  attemptMember: (member) => `attempt.value ->> '$.${member}'`,
  attempts: 'json_each(attempts) AS attempt',
};

/**
 * Earlier versions stored NUL and half surrogate pairs as escapes, the only ones that `JSON.stringify` writes with these
 * numbers. PostgreSQL stores such JSON, but refuses to take texts out of it.
 */
const readableAttempts = String.raw`CASE WHEN strpos(attempts::text, '\u') = 0 THEN attempts
  ELSE regexp_replace(attempts::text, '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'gi')::json END`;

export const postgresNotation: SqlNotation = {
  placeholder: (position) => `$${position}`,
  list: (values) => values,
  isAmong: (expression, placeholder) => `${expression} = ANY(${placeholder})`,
  startsWith: (expression, placeholder) => `starts_with(${expression}, ${placeholder})`,
  indexed: (table) => table,
  attemptMember: (member) => `attempt #>> '{${member.replaceAll('.', ',')}}'`,
  attempts: `json_array_elements(${readableAttempts}) AS attempt`,
};

/** How many attempts are stored; 0 for one that only repeats the row. The same in both databases. */
export const attemptCount = 'coalesce(json_array_length(attempts), 0)';

/** A condition on the current row of `requests`. */
export function rowSql<T>(condition: Condition<T>, notation: SqlNotation): string {
  return sqlOf(condition, notation, column);
}

/** A condition on the current `attempt`. */
export function attemptSql<T>(condition: Condition<T>, notation: SqlNotation): string {
  return sqlOf(condition, notation, notation.attemptMember);
}

/** 1 or 0. */
export const asNumber = (conditionSql: string) => `CASE WHEN ${conditionSql} THEN 1 ELSE 0 END`;

function sqlOf<T>(condition: Condition<T>, notation: SqlNotation, nameOf: NameOf): string {
  const combined = (conditions: readonly Condition<T>[], word: string) =>
    `(${conditions.map((each) => sqlOf(each, notation, nameOf)).join(` ${word} `)})`;
  if ('isNull' in condition) return `(${nameOf(condition.isNull)}) IS NULL`;
  if ('isOneOf' in condition) return isOneOfSql(condition, nameOf);
  if ('least' in condition) {
    const { member, least, most } = condition;
    return `coalesce(${nameOf(member)}, ${least - 1}) BETWEEN ${least} AND ${most}`;
  }
  if ('all' in condition) return combined(condition.all, 'AND');
  if ('any' in condition) return combined(condition.any, 'OR');
  if ('not' in condition) return `NOT (${sqlOf(condition.not, notation, nameOf)})`;
  if ('someAttempt' in condition) return someAttemptSql(condition.someAttempt, notation);
  return `${attemptCount} > 1`;
}

function isOneOfSql(
  { member, at, isOneOf }: { member: string; at?: string; isOneOf: readonly string[] },
  nameOf: NameOf,
) {
  const list = isOneOf.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ');
  return `coalesce(${nameOf(member)}${at === undefined ? '' : ` ->> '${at}'`}, '') IN (${list})`;
}

function someAttemptSql<T>(condition: Condition<T>, notation: SqlNotation): string {
  return `CASE WHEN attempts IS NULL THEN provider IS NOT NULL AND ${sqlOf(condition, notation, plainMember)}
    ELSE EXISTS (SELECT 1 FROM ${notation.attempts} WHERE ${attemptSql(condition, notation)}) END`;
}
