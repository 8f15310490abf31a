/** Pinned requests in PostgreSQL, which all replicas share. */
import type { PinStore } from '../ports/pin-store.ts';
import { unreadable } from '../rules/failures.ts';
import { pinnedCaptureOf, pinOf, pinRow, pinTypes, storableNote } from '../sqlite/pins.ts';
import { replaced } from './columns.ts';
import { explained } from './failures.ts';
import type { Postgres } from './postgres.ts';

const listed = 'SELECT request, pinned_at, note FROM pins';
const columns = Object.keys(pinTypes);
const values = Object.values(pinTypes).map((type, index) => `$${index + 1}::${type}`);
/** Pins of two replicas at the same moment wait for each other, so that their number is known. */
const lockSql = 'LOCK TABLE pins IN SHARE ROW EXCLUSIVE MODE';
const putSql = `INSERT INTO pins (${columns.join(', ')}) SELECT ${values.join(', ')}
  WHERE (SELECT count(*) FROM pins WHERE id <> $1) < $7
  ON CONFLICT (id) DO UPDATE SET ${replaced(columns.filter((column) => column !== 'id'))}`;

export function createPostgresPins(postgres: Postgres): PinStore {
  const run = <T>(work: () => Promise<T>) => explained(work, unreadable);
  return {
    list: () => run(async () => (await postgres.ask(`${listed} ORDER BY started_at DESC, id`)).rows.map(pinOf)),
    find: (id) =>
      run(async () => {
        const [row] = (await postgres.ask(`${listed} WHERE id = $1`, id)).rows;
        return row ? pinOf(row) : null;
      }),
    readCapture: (id) =>
      run(async () => pinnedCaptureOf((await postgres.ask('SELECT capture FROM pins WHERE id = $1', id)).rows[0])),
    put: (pin, capture, most) =>
      run(() =>
        postgres.transaction(async (queries) => {
          await queries.ask(lockSql);
          return (await queries.ask(putSql, ...pinRow(pin, capture), most)).count > 0;
        }),
      ),
    note: (id, note) =>
      run(
        async () => (await postgres.ask('UPDATE pins SET note = $2 WHERE id = $1', id, storableNote(note))).count > 0,
      ),
    remove: (id) => run(async () => (await postgres.ask('DELETE FROM pins WHERE id = $1', id)).count > 0),
  };
}
