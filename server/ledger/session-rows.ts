/** Keeps the table of sessions in step with the requests that are written. */
import type { RequestSession } from '../contract/ledger.ts';
import type { Database } from '../database/database.ts';
import type { BegunRow, EndedRow } from './rows.ts';
import { seekSeq } from './seek.ts';

interface Use {
  row: BegunRow | EndedRow;
  client: string | null;
  lastSeq: number;
}

/** The sessions of one batch: each is written once. */
export class SessionUses {
  readonly #uses = new Map<string, Use>();

  add(seq: number, row: BegunRow | EndedRow): void {
    if (row.session === null) return;
    const { id } = row.session;
    const client = 'client' in row ? row.client : null;
    const before = this.#uses.get(id);
    if (!before) this.#uses.set(id, { row, client, lastSeq: seq });
    else {
      before.client = client ?? before.client;
      before.lastSeq = Math.max(before.lastSeq, seq);
    }
  }

  entries(): Iterable<[string, Use]> {
    return this.#uses;
  }
}

/** Returns a function to be called within the transaction that writes the requests. */
export function prepareSessionsWriter(database: Database): (uses: SessionUses) => void {
  const upsert = database.prepare(
    `INSERT INTO sessions (id, key_id, group_id, client, last_seq) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET
       client = coalesce(excluded.client, client), last_seq = max(last_seq, excluded.last_seq)`,
  );
  return (uses) => {
    for (const [id, { row, client, lastSeq }] of uses.entries())
      upsert.run(id, row.keyId, row.groupId, client, lastSeq);
  };
}

/** A request that was recorded without its session. */
export interface JoinedRequest {
  requestId: string;
  /** Unix milliseconds. */
  startedAt: number;
  session: RequestSession;
}

/** Rows follow the time of arrival, but may be written a little later. */
const nearMs = 5_000;

/** Returns a function that adds a recorded request to its session. False if it is not in the ledger. */
export function prepareJoiner(database: Database): (joined: JoinedRequest) => boolean {
  const find = database.prepare('SELECT seq, session FROM requests WHERE seq >= ? AND seq < ? AND id = ?');
  const join = database.prepare('UPDATE requests SET session = ?, thread = ?, step = ? WHERE seq = ?');
  return ({ requestId, startedAt, session }) => {
    const row = find.get(seekSeq(database, startedAt - nearMs), seekSeq(database, startedAt + nearMs), requestId);
    if (!row) return false;
    if (row.session === null) join.run(session.id, session.thread, session.step, Number(row.seq));
    return true;
  };
}
