/** Pinned requests in PostgreSQL, which all replicas share. Each is told of what the others pin. */
import type { PinChange } from '../../contract/request-views.ts';
import { createSerialQueue } from '../../ground/promises.ts';
import type { PinStore } from '../ports/kept-stores.ts';
import { messageOf, unreadable } from '../rules/failures.ts';
import { changeOf, pinnedCaptureOf, pinOf, pinRow, pinTypes, storableNote, viewOf } from '../sqlite/request-filter.ts';
import { channel, type Notices } from './notices.ts';
import { explained, type Postgres, replaced } from './postgres.ts';

const listed = 'SELECT request, pinned_at, note FROM pins';
const newSql = 'SELECT id, request, pinned_at, note FROM pins WHERE id = ANY($1)';
const columns = Object.keys(pinTypes);
const values = Object.values(pinTypes).map((type, index) => `$${index + 1}::${type}`);
/** Pins of two replicas at the same moment wait for each other, so that their number is known. */
const lockSql = 'LOCK TABLE pins IN SHARE ROW EXCLUSIVE MODE';
/** A statement that returns the ids that it changed, and tells the replicas. */
const telling = (changing: string) =>
  `WITH changed AS (${changing} RETURNING id) SELECT pg_notify('${channel}', 'pins') FROM changed`;
const putSql = telling(`INSERT INTO pins (${columns.join(', ')}) SELECT ${values.join(', ')}
  WHERE (SELECT count(*) FROM pins WHERE id <> $1) < $7
  ON CONFLICT (id) DO UPDATE SET ${replaced(columns.filter((column) => column !== 'id'))}`);
const noteSql = telling('UPDATE pins SET note = $2 WHERE id = $1');
const removeSql = telling('DELETE FROM pins WHERE id = $1');

interface Options {
  postgres: Postgres;
  notices: Notices;
  log: { warn(fields: object, message: string): void };
}

export class PostgresPins implements PinStore {
  readonly #options: Options;
  readonly #listeners: ((change: PinChange) => void)[] = [];
  readonly #inTurn = createSerialQueue();
  /** As they were last read here. */
  readonly #known = new Map<string, PinChange>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Rejects with PostgreSQL's error. */
  async open(): Promise<void> {
    await this.#read();
    this.#options.notices.on('pins', () => void this.#readQuietly());
  }

  onChange(listener: (change: PinChange) => void): void {
    this.#listeners.push(listener);
  }

  list() {
    return this.#run(async () => (await this.#ask(`${listed} ORDER BY started_at DESC, id`)).rows.map(pinOf));
  }

  find(id: string) {
    return this.#run(async () => {
      const [row] = (await this.#ask(`${listed} WHERE id = $1`, id)).rows;
      return row ? pinOf(row) : null;
    });
  }

  readCapture(id: string) {
    return this.#run(async () => {
      const [row] = (await this.#ask('SELECT capture FROM pins WHERE id = $1', id)).rows;
      return pinnedCaptureOf(row);
    });
  }

  put(...[pin, capture, most]: Parameters<PinStore['put']>) {
    return this.#change(() =>
      this.#options.postgres.transaction(async (queries) => {
        await queries.ask(lockSql);
        return queries.ask(putSql, ...pinRow(pin, capture), most);
      }),
    );
  }

  note(id: string, note: string | null) {
    return this.#change(() => this.#ask(noteSql, id, storableNote(note)));
  }

  remove(id: string) {
    return this.#change(() => this.#ask(removeSql, id));
  }

  #ask(...asked: Parameters<Postgres['ask']>) {
    return this.#options.postgres.ask(...asked);
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    return explained(work, unreadable);
  }

  async #change(work: () => Promise<{ count: number }>): Promise<boolean> {
    const { count } = await this.#run(work);
    await this.#readQuietly();
    return count > 0;
  }

  /** Serialized, so that an older answer cannot replace a newer one. */
  #read(): Promise<void> {
    return this.#inTurn(() => this.#readNow());
  }

  async #readNow(): Promise<void> {
    const { rows } = await this.#ask('SELECT id, pinned_at, note FROM pins');
    const ids = rows.map(({ id }) => String(id));
    const isNew = (id: string) => !this.#known.has(id);
    const pinned = ids.some(isNew) ? (await this.#ask(newSql, ids.filter(isNew))).rows : [];
    const requests = new Map(pinned.map((row) => [String(row.id), pinOf(row).request]));
    for (const [index, row] of rows.entries()) {
      const id = ids[index] ?? '';
      const [before, pin] = [this.#known.get(id), viewOf(row)];
      const request = before ?? requests.get(id);
      const isSame = before?.pin?.note === pin.note && before.pin.pinnedAt === pin.pinnedAt;
      // Without a request it was unpinned between the two questions.
      if (request && !isSame) this.#tell(changeOf(request, pin));
    }
    for (const [id, before] of this.#known) if (!ids.includes(id)) this.#tell(changeOf(before, null));
  }

  #tell(change: PinChange): void {
    if (change.pin) this.#known.set(change.id, change);
    else this.#known.delete(change.id);
    for (const listener of this.#listeners) listener(change);
  }

  async #readQuietly(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'pinned requests cannot be read; nobody is told of them now');
    }
  }
}
