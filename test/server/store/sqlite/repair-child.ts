/** Repairs the ledger named on its command line, and kills itself within the transaction after as many as named there. */
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createRepair } from '../../../../server/store/sqlite/repair.ts';

const [file = '', transactions = ''] = process.argv.slice(2);
const database = openSqliteDatabase(file);
const transaction = database.transaction.bind(database);
let left = Number(transactions);
database.transaction = (work) =>
  transaction(() => {
    const result = work();
    if (left-- === 0) process.kill(process.pid, 'SIGKILL');
    return result;
  });
await createRepair(database, console).run();
database.close();
