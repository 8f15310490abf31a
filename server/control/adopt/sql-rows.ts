/** The rows that a dump of SQLite inserts into a table. The dump is read, never run. */
import { brokenAt } from './found.ts';

export type SqlRow = Readonly<Record<string, string | null>>;

interface Cursor {
  sql: string;
  at: number;
}

/** After white space and comments. */
const insert = /(?:\s|--[^\n]*\n)*INSERT INTO "(?<table>[^"]+)" \((?<columns>[^)]*)\) VALUES\s*/y;

export function rowsOf(sql: string, table: string): SqlRow[] {
  const cursor = { sql, at: 0 };
  const rows: SqlRow[] = [];
  while (cursor.at < sql.length) {
    insert.lastIndex = cursor.at;
    const groups = insert.exec(sql)?.groups;
    if (!groups) {
      passStatement(cursor);
      continue;
    }
    cursor.at = insert.lastIndex;
    const columns = [...(groups.columns ?? '').matchAll(/"((?:[^"]|"")*)"/g)].map(([, name = '']) => name);
    const values = readRows(cursor);
    if (groups.table !== table) continue;
    for (const row of values) rows.push(Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])));
  }
  return rows;
}

/** Passes what ends at a semicolon outside of quotes and comments, and the white space after it. */
function passStatement(cursor: Cursor): void {
  const part = /--[^\n]*|'[^']*'|"[^"]*"|[^;'"-]+|-/y;
  for (;;) {
    part.lastIndex = cursor.at;
    if (!part.test(cursor.sql)) break;
    cursor.at = part.lastIndex;
  }
  passSpace(cursor, 1);
}

function passSpace(cursor: Cursor, after: number): void {
  cursor.at += after;
  while (/\s/.test(cursor.sql[cursor.at] ?? '')) cursor.at++;
}

function readRows(cursor: Cursor): (string | null)[][] {
  const rows: (string | null)[][] = [];
  for (;;) {
    if (cursor.sql[cursor.at] !== '(') throw brokenAt(lineOf(cursor), 'a row in parentheses');
    rows.push(readRow(cursor));
    const next = cursor.sql[cursor.at];
    if (next !== ',' && next !== ';') throw brokenAt(lineOf(cursor), '"," or ";" after a row');
    passSpace(cursor, 1);
    if (next === ';') return rows;
  }
}

function readRow(cursor: Cursor): (string | null)[] {
  const value = /\s*(?:'([^']*(?:''[^']*)*)'|NULL|X'[0-9A-Fa-f]*'|[-+.\deE]+)\s*([,)])/y;
  const row: (string | null)[] = [];
  cursor.at++;
  for (;;) {
    value.lastIndex = cursor.at;
    const found = value.exec(cursor.sql);
    if (!found) throw brokenAt(lineOf(cursor), 'a value');
    cursor.at = value.lastIndex;
    row.push(found[1]?.replaceAll("''", "'") ?? null);
    if (found[2] === ')') return row;
  }
}

function lineOf({ sql, at }: Cursor): string {
  return `line ${sql.slice(0, at).split('\n').length}`;
}
