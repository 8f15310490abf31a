/** Conditions on records as SQL: the same answer as `holds`, true or false and never null, in SQLite and in PostgreSQL. */
import type { Condition } from '../../contract/condition.ts';

/** How one of the databases writes what differs. */
export interface SqlNotation {
  /** A member of the attempt `attempt`, such as `usage.images`, as text. */
  attemptMember(member: string): string;
  /** A table of the attempts, each as `attempt`. */
  attempts: string;
}

type NameOf = (member: string) => string;

/** The column of a row of `requests`. */
const column: NameOf = (member) => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Of an attempt that is not stored, because it only repeats the row's columns: see `isPlain` in `rows.ts`. */
const plainMember: NameOf = (member) => plainMembers[member] ?? column(member);
const plainMembers: Readonly<Record<string, string>> = { failure: 'NULL', error: 'NULL', model: 'model_served' };

export const sqliteNotation: SqlNotation = {
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
  const joined = (conditions: readonly Condition<T>[], word: string) =>
    `(${conditions.map((each) => sqlOf(each, notation, nameOf)).join(` ${word} `)})`;
  if ('isNull' in condition) return `(${nameOf(condition.isNull)}) IS NULL`;
  if ('isOneOf' in condition) return isOneOfSql(condition, nameOf);
  if ('least' in condition) {
    const { member, least, most } = condition;
    return `coalesce(${nameOf(member)}, ${least - 1}) BETWEEN ${least} AND ${most}`;
  }
  if ('all' in condition) return joined(condition.all, 'AND');
  if ('any' in condition) return joined(condition.any, 'OR');
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
