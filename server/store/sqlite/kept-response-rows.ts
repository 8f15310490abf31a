/** Limits for kept responses, and the SQLite statements for the table `kept_responses`. */
import type { Settings } from '../../contract/settings.ts';
import type { KeptResponse } from '../ports/response-store.ts';
import { number, type Row, text } from '../rules/columns.ts';
import type { Database } from './database.ts';

/** Migrations of `responses.sqlite`. */
export const keptResponseMigrations: readonly string[] = [
  `
  CREATE TABLE kept_responses (
    group_id TEXT NOT NULL, id TEXT NOT NULL, created_at REAL NOT NULL, bytes INTEGER NOT NULL,
    response TEXT NOT NULL, input TEXT NOT NULL,
    PRIMARY KEY (group_id, id)
  );
  CREATE INDEX kept_responses_by_time ON kept_responses (group_id, created_at, bytes);
  `,
];

/** Maximum number of responses per group. */
export const maxResponses = 2_000;
/** One response may take at most 1/8 of its group's bytes. */
const largestPart = 8;

/** False if the response is too long, or if storage is disabled. */
export function mayKeep(
  response: Pick<KeptResponse, 'response' | 'input'>,
  { retentionHours, bytesPerGroup }: Settings['keptResponses'],
): boolean {
  return retentionHours > 0 && sizeOf(response) <= bytesPerGroup / largestPart;
}

/** Upper bound of the stored size in bytes: the size of the texts in UTF-16. */
function sizeOf({ response, input }: Pick<KeptResponse, 'response' | 'input'>): number {
  return 2 * (response.length + input.length);
}

/** In the order of the table's columns. */
export function columnsOfKept({ groupId, id, createdAt, response, input }: KeptResponse) {
  return [groupId, id, createdAt, sizeOf({ response, input }), response, input] as const;
}

export function toKeptResponse(row: Row | undefined): KeptResponse | undefined {
  if (row === undefined) return undefined;
  return {
    id: text(row.id) ?? '',
    groupId: text(row.group_id) ?? '',
    createdAt: number(row.created_at) ?? 0,
    response: text(row.response) ?? '',
    input: text(row.input) ?? '',
  };
}

export function prepareStatements(database: Database) {
  return {
    insert: database.prepare('INSERT OR REPLACE INTO kept_responses VALUES (?, ?, ?, ?, ?, ?)'),
    select: database.prepare('SELECT * FROM kept_responses WHERE group_id = ? AND id = ?'),
    remove: database.prepare('DELETE FROM kept_responses WHERE group_id = ? AND id = ?'),
    removeOlder: database.prepare('DELETE FROM kept_responses WHERE created_at < ?'),
    /** Ordered newest first, so that rows beyond the limits come last. */
    sizes: database.prepare(
      'SELECT rowid, bytes FROM kept_responses WHERE group_id = ? ORDER BY created_at DESC, rowid DESC',
    ),
    removeRow: database.prepare('DELETE FROM kept_responses WHERE rowid = ?'),
  };
}
