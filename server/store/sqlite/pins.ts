/** Pinned requests in `ledger.sqlite`. Request and capture are JSON, since nothing is looked up in them. */
import type { PinnedRequest } from '../../contract/pins.ts';
import type { PinnedCapture, PinStore } from '../ports/pin-store.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { isTemporary, unreadable } from '../rules/failures.ts';
import { storableText } from '../rules/storable-row.ts';
import type { Database } from './database.ts';

const listed = 'SELECT request, pinned_at, note FROM pins';
/** In both stores: what a search reads of them. */
export const notedPins = 'SELECT id, started_at, note FROM pins WHERE note IS NOT NULL';

export function createPins(database: Database): PinStore {
  /** Statements are prepared at each use, since the file may have been replaced. */
  const run = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw isTemporary(error) ? unreadable(error) : error;
    }
  };
  return {
    list: () => run(() => database.prepare(`${listed} ORDER BY started_at DESC, id`).all().map(pinOf)),
    find: (id) =>
      run(() => {
        const row = database.prepare(`${listed} WHERE id = ?`).get(id);
        return row ? pinOf(row) : null;
      }),
    readCapture: (id) => run(() => pinnedCaptureOf(database.prepare('SELECT capture FROM pins WHERE id = ?').get(id))),
    put: (pin, capture, most) =>
      run(() => {
        const insert = database.prepare(`INSERT OR REPLACE INTO pins SELECT ?, ?, ?, ?, ?, ?
          WHERE (SELECT count(*) FROM pins WHERE id <> ?) < ?`);
        return insert.run(...pinRow(pin, capture), pin.request.id, most).changes > 0;
      }),
    note: (id, note) =>
      run(() => database.prepare('UPDATE pins SET note = ? WHERE id = ?').run(storableNote(note), id).changes > 0),
    remove: (id) => run(() => database.prepare('DELETE FROM pins WHERE id = ?').run(id).changes > 0),
  };
}

/** PostgreSQL's types. */
export const pinTypes = {
  id: 'text',
  started_at: 'double precision',
  pinned_at: 'double precision',
  note: 'text',
  request: 'text',
  capture: 'text',
};

/** In the order of `pinTypes`. */
export function pinRow({ request, pinnedAt, note }: PinnedRequest, capture: PinnedCapture | null) {
  const { id, startedAt } = request;
  return [id, startedAt, pinnedAt, storableNote(note), JSON.stringify(request), capture && JSON.stringify(capture)];
}

export const storableNote = (note: string | null) => (note === null ? null : storableText(note));

export function pinOf(row: Row): PinnedRequest {
  return {
    request: JSON.parse(text(row.request) ?? ''),
    pinnedAt: number(row.pinned_at) ?? 0,
    note: text(row.note),
  };
}

export function pinnedCaptureOf(row: Row | undefined): PinnedCapture | null {
  const capture = text(row?.capture ?? null);
  return capture === null ? null : JSON.parse(capture);
}
