/**
 * Writes endlessly to the ledger named on its command line. 100 ms after each row, it prints that the row must be
 * stored.
 */
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger } from '../../../../server/store/sqlite/ledger.ts';
import { finishedRow, startedRow } from './records.ts';

const database = openSqliteDatabase(process.argv[2] ?? '');
const ledger = createLedger({ database, log: console });
let count = 0;

setInterval(() => {
  for (let index = 0; index < 20; index += 1) {
    count += 1;
    const last = count;
    ledger.started(startedRow(`req_${last}`));
    ledger.finished(finishedRow(`req_${last}`));
    setTimeout(() => process.stdout.write(`${last}\n`), 100);
  }
  ledger.started(startedRow(`open_${count}`));
}, 1);
