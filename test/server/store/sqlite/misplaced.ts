/** A ledger's file as versions before the repair left it: derived from wrong sequence numbers, as their writer took them. */
import type { SqlValue } from '../../../../server/store/rules/columns.ts';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger } from '../../../../server/store/sqlite/ledger.ts';
import { ledgerMigrations } from '../../../../server/store/sqlite/schema.ts';
import { attemptRecord } from '../../../support/stand-ins.ts';
import { capturedExchange, finishedRow, noon, sessionMark, silent } from './records.ts';

/** The number of migrations without the one that begins the repair. */
const versionBefore = ledgerMigrations.findIndex((sql) => sql.includes('last request to repair'));
export const everyMs = 20;
export const idOf = (index: number) =>
  `req_${(noon + index * everyMs).toString(16).padStart(12, '0')}${index.toString(16).padStart(20, '0')}`;

/** In the capture of one request only, and the beginning of no other word. */
export const wordOf = (index: number) => `word${index}x`;
const failed = (index: number) => index % 19 === 0;
const isCaptured = (index: number) => index % 5 !== 0;

/** Leaves the file as it would be without the fault; resolves with its contents. */
async function writeRightly(file: string, requests: number): Promise<Contents> {
  const database = openSqliteDatabase(file);
  const ledger = createLedger({ database, log: silent, now: () => noon });
  for (let index = 0; index < requests; index++) {
    ledger.finished(
      finishedRow(idOf(index), {
        startedAt: noon + index * everyMs,
        keyId: `k${index % 40}`,
        modelAsked: `model-${Math.floor(index / 700)}`,
        client: `client-${index % 7}`,
        session: index % 2 === 0 ? sessionMark(`ses_${Math.floor(index / 500)}_${index % 12}`) : null,
        captured: isCaptured(index) ? 'group' : null,
        ...(failed(index) && {
          outcome: 'error',
          status: 500,
          errorCode: 'upstream_error',
          attempts: [attemptRecord({ error: `The furnace of boiler${index} is out of coal`, failure: 'transient' })],
        }),
      }),
    );
    if (isCaptured(index)) ledger.capture(idOf(index), capturedExchange(`{"content":"${wordOf(index)}"}`, 'answer'));
    if (index % 250 === 249) ledger.flush();
  }
  await ledger.listRequests({ search: 'anything' });
  ledger.close();
  // The names of all blocks, as a version without the fault records them from the first request on.
  database.exec("UPDATE facts SET value = 0 WHERE name = 'first named request'");
  // The version before the repair recorded no hours.
  database.exec("INSERT INTO facts SELECT 'last untimed request', max(seq) FROM requests");
  const contents = contentsOf(database);
  database.close();
  return contents;
}

/**
 * Writes a file of the version before the repair, in which most of what was derived is wrong; resolves with what it would contain
 * without the fault.
 */
export async function writeMisplaced(file: string, requests: number): Promise<Contents> {
  const contents = await writeRightly(file, requests);
  const database = openSqliteDatabase(file);
  const rows = database.prepare('SELECT seq, model_asked, key_id, attempts FROM requests').all();
  database.transaction(() => {
    database.exec(`
      INSERT INTO error_text (error_text) VALUES ('delete-all');
      DELETE FROM request_names WHERE block % 3 = 0;
      UPDATE captures SET request_seq = CASE WHEN seq % 97 = 0 THEN ${2 * requests} + seq ELSE max(1, request_seq - 1 - seq % 9) END
        WHERE seq % 6 <> 0;
      UPDATE sessions SET last_seq = last_seq + ${requests} WHERE last_seq % 3 <> 0;
    `);
    const addErrors = database.prepare('INSERT INTO error_text (rowid, text) VALUES (?, ?)');
    const addName = database.prepare('INSERT OR IGNORE INTO request_names VALUES (?, ?, ?)');
    for (const row of rows) {
      const wrongSeq = Math.max(1, Number(row.seq) - 40 - (Number(row.seq) % 300));
      if (row.attempts !== null) addErrors.run(wrongSeq, JSON.parse(String(row.attempts))[0].error ?? '');
      addName.run('key', String(row.key_id), Math.floor(wrongSeq / 256));
    }
  });
  toVersionBefore(database);
  database.close();
  return contents;
}

/** Takes back what the migration did to the tables, so that it is applied when the file is opened. */
function toVersionBefore(database: Database): void {
  database.exec(`
    DROP TABLE earlier_names;
    DELETE FROM facts WHERE name IN ('last request to repair', 'last untimed request');
    UPDATE facts SET value = 1 WHERE name = 'first named request';
    -- Of later migrations.
    ALTER TABLE jobs DROP COLUMN input_tokens;
    ALTER TABLE jobs DROP COLUMN session;
    DROP TRIGGER captures_deleted_sizes;
    DROP TABLE capture_sizes;
    DELETE FROM facts WHERE name = 'captured bytes';
    DROP TABLE pins;
    PRAGMA user_version = ${versionBefore};
  `);
}

export type Contents = Record<string, Record<string, SqlValue>[]>;

/** Every row of every table; of the full-text indexes, the words of each row. */
export function contentsOf(database: Database): Contents {
  const tables = database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%_text_%' AND name NOT LIKE 'sqlite%'",
    )
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !name.endsWith('_text'));
  database.exec(`
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.error_words USING fts5vocab('main', 'error_text', 'instance');
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.captured_words USING fts5vocab('main', 'captured_text', 'instance');
  `);
  const contents: Contents = {};
  for (const table of [...tables.sort(), 'error_words', 'captured_words']) {
    contents[table] = database.prepare(`SELECT * FROM ${table}`).all();
  }
  return { ...contents, facts: (contents.facts ?? []).filter(({ name }) => name !== 'known time') };
}
