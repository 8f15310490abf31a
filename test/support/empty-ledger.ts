import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';

let bytes: Buffer | undefined;

/**
 * Copies a ledger without rows into a data folder that has none, because creating the tables takes half of a gateway's
 * start.
 */
export function putEmptyLedger(folder: string): void {
  const file = join(folder, 'ledger.sqlite');
  if (bytes) {
    writeFileSync(file, bytes, { mode: 0o600 });
  } else {
    openSqliteDatabase(file).close();
    bytes = readFileSync(file);
  }
}
