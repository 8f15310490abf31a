import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../server/store/sqlite/database.ts';

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
    openDatabase(file).close();
    bytes = readFileSync(file);
  }
}
