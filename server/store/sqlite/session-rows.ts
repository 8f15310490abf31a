/** Updates the table of sessions with the requests that are written. */
import { ownClient, type RequestSession } from '../../contract/ledger.ts';
import type { BegunRow, EndedRow } from '../rules/rows.ts';
import { storableSession } from '../rules/storable-row.ts';
import type { Database } from './database.ts';
import { blockRows } from './request-names.ts';
import { blocksDuring } from './seek.ts';

interface Use {
  row: BegunRow | EndedRow;
  name: string | null;
  client: string | null;
  lastSeq: number;
  /** Of the requests that have ended. */
  costUsd: number;
}

/** The sessions of one batch: each is written once. */
export class SessionUses {
  readonly #uses = new Map<string, Use>();

  add(seq: number, row: BegunRow | EndedRow): void {
    if (row.session === null) return;
    const { id, name } = row.session;
    const client = 'client' in row && row.client !== ownClient ? row.client : null;
    const costUsd = ('costUsd' in row && row.costUsd) || 0;
    const existing = this.#uses.get(id);
    if (!existing) this.#uses.set(id, { row, name, client, lastSeq: seq, costUsd });
    else {
      existing.name = name ?? existing.name;
      existing.client = client ?? existing.client;
      existing.lastSeq = Math.max(existing.lastSeq, seq);
      existing.costUsd += costUsd;
    }
  }

  entries(): Iterable<[string, Use]> {
    return this.#uses;
  }
}

/** Returns a function to be called within the transaction that writes the requests. */
export function prepareSessionsWriter(database: Database): (uses: SessionUses) => void {
  const upsert = database.prepare(
    `INSERT INTO sessions (id, name, key_id, group_id, client, last_seq, cost_usd) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET
       name = coalesce(excluded.name, name), client = coalesce(excluded.client, client), last_seq = max(last_seq, excluded.last_seq),
       cost_usd = cost_usd + excluded.cost_usd`,
  );
  return (uses) => {
    for (const [id, { row, name, client, lastSeq, costUsd }] of uses.entries())
      upsert.run(id, name, row.keyId, row.groupId, client, lastSeq, costUsd);
  };
}

/** A request that was begun without its session. */
export interface JoinedRequest {
  requestId: string;
  /** It has ended already, so no later row adds its cost to the session. */
  hasEnded: boolean;
  /** Unix milliseconds. */
  startedAt: number;
  session: RequestSession;
}

/**
 * Returns a function that adds a recorded request to its session. False if it is not in the ledger. `running`: the rows of
 * running requests, by id; `alone`: the latest batches with rows that have no session.
 */
export function prepareJoiner(
  database: Database,
  { running, alone }: { running: ReadonlyMap<string, number>; alone: RecentBatches },
): (joined: JoinedRequest) => boolean {
  const ofSeq = database.prepare('SELECT seq, session FROM requests WHERE seq = ? AND id = ?');
  const find = database.prepare('SELECT seq, session FROM requests WHERE seq >= ? AND seq < ? AND id = ?');
  const join = database.prepare('UPDATE requests SET session = ?, thread = ?, step = ? WHERE seq = ?');
  const addCost = database.prepare(
    `INSERT INTO sessions (id, key_id, group_id, client, last_seq, cost_usd)
     SELECT session, key_id, group_id, client, seq, coalesce(cost_usd, 0) FROM requests WHERE seq = ?
     ON CONFLICT DO UPDATE SET
       last_seq = max(last_seq, excluded.last_seq), cost_usd = cost_usd + excluded.cost_usd`,
  );
  const found = (id: string, startedAt: number) => {
    for (const { firstSeq, lastSeq } of alone.at(startedAt)) {
      const row = find.get(firstSeq, lastSeq + 1, id);
      if (row) return row;
    }
    for (const block of blocksDuring(database, { sinceMs: startedAt, untilMs: startedAt })) {
      const row = find.get(block * blockRows, (block + 1) * blockRows, id);
      if (row) return row;
    }
    return undefined;
  };
  return ({ requestId, startedAt, session: givenSession, hasEnded }) => {
    const session = storableSession(givenSession);
    const known = running.get(requestId);
    const row = known === undefined ? found(requestId, startedAt) : ofSeq.get(known, requestId);
    if (!row) return false;
    if (row.session !== null) return true;
    const seq = Number(row.seq);
    database.transaction(() => {
      join.run(session.id, session.thread, session.step, seq);
      if (hasEnded) addCost.run(seq);
    });
    return true;
  };
}

/** The rows of a batch, and when the first and the last of their requests began. */
export interface Batch {
  firstSeq: number;
  lastSeq: number;
  sinceMs: number;
  untilMs: number;
}

/** Where little is asked, a batch is one row: as many as the beginnings of conversations that are remembered. */
const maxBatches = 4_096;

/** Which rows were written together, so that a recent row is found by its time without a look at a whole hour. */
export class RecentBatches {
  #batches: Batch[] = [];

  /** `current`: the batch so far, or null; returns it with one more row. */
  static extended(current: Batch | null, seq: number, startedAt: number): Batch {
    if (current === null) return { firstSeq: seq, lastSeq: seq, sinceMs: startedAt, untilMs: startedAt };
    current.firstSeq = Math.min(current.firstSeq, seq);
    current.lastSeq = Math.max(current.lastSeq, seq);
    current.sinceMs = Math.min(current.sinceMs, startedAt);
    current.untilMs = Math.max(current.untilMs, startedAt);
    return current;
  }

  add(batch: Batch): void {
    this.#batches.push(batch);
    if (this.#batches.length >= 2 * maxBatches) this.#batches = this.#batches.slice(-maxBatches);
  }

  /** Those that may have a request that began at this time, newest first. */
  *at(startedAt: number): Generator<Batch, void, undefined> {
    for (let index = this.#batches.length - 1; index >= 0; index--) {
      const batch = this.#batches[index];
      if (batch && batch.sinceMs <= startedAt && startedAt <= batch.untilMs) yield batch;
    }
  }

  clear(): void {
    this.#batches = [];
  }
}
