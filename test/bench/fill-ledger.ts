import type { RequestRecord } from '../../server/contract/ledger.ts';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { createLedger } from '../../server/store/sqlite/ledger.ts';
import { finishedRow } from '../server/store/sqlite/records.ts';
import { model } from './payloads.ts';

const batch = 5_000;
const spanMs = 30 * 86_400_000;

/** Writes this many requests of the last thirty days with the ledger's own code, alternating between the keys. */
export function fillLedger(file: string, rows: number, keys: number): void {
  const database = openSqliteDatabase(file);
  const ledger = createLedger({ database, log: console });
  const beginMs = Date.now() - spanMs;
  const record = (index: number): RequestRecord =>
    finishedRow(`req_${index.toString(16).padStart(32, '0')}`, {
      startedAt: beginMs + Math.floor((index / rows) * spanMs),
      keyId: `key-${index % keys}`,
      modelAsked: model,
      modelServed: model,
    });
  for (let index = 0; index < rows; index++) {
    ledger.finished(record(index));
    if (index % batch === batch - 1) ledger.flush();
  }
  ledger.close();
  database.close();
}
