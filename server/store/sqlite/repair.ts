/**
 * Repairs what earlier versions derived from a wrong `seq`: which request a capture belongs to, the last request of a session, the
 * index of errors, and the names in each block of requests. All of it follows from the tables `requests`, `captures` and
 * `sessions`, which were written rightly. The migration that the repair belongs to emptied the two indexes, so they are filled from the
 * newest of the old requests to the oldest, beside new requests, which the writer adds itself.
 *
 * Works in small transactions between which requests are served. What is done is stored with it, so that a process that was killed
 * goes on where the last one ended.
 */
import { setTimeout } from 'node:timers/promises';
import { number, text } from '../rules/columns.ts';
import { messageOf } from '../rules/failures.ts';
import { toLedgerRow } from '../rules/rows.ts';
import type { Database } from './database.ts';
import { blockOf, blockRows, NamesWriter } from './request-names.ts';
import { errorsOf } from './writer.ts';

export interface Repair {
  /** Repairs what is left, if anything. Resolves when nothing is, or after `stop`. Also runs by itself. */
  run(): Promise<void>;
  stop(): void;
}

interface Progress {
  /** The newest request to repair. */
  last: number;
  /** Requests from this one on are repaired. */
  doneFrom: number;
  /** The oldest request that is kept; null: there is none. */
  oldest: number | null;
}

const rowsPerPiece = 250;
/** Captures can be large, so their pieces are limited by time. */
const captureSliceMs = 4;
/** A pause in relation to the work before it, and the longest one. */
const pauseShare = 0.5;
const maxPauseMs = 10;
const retryMs = 60_000;

/** Per cent of the requests that are repaired, at most 99; null once all is. */
export function repairedPercent(database: Database): number | null {
  const progress = readProgress(database);
  if (progress === null) return null;
  const { last, doneFrom, oldest } = progress;
  if (oldest === null || oldest > last) return 99;
  const done = (last + 1 - doneFrom) / (last + 1 - oldest);
  return Math.min(Math.max(Math.floor(done * 100), 0), 99);
}

function readProgress(database: Database): Progress | null {
  const fact = (name: string) => number(database.prepare('SELECT value FROM facts WHERE name = ?').get(name)?.value);
  const last = fact('last request to repair');
  if (last === null) return null;
  const oldest = number(database.prepare('SELECT min(seq) AS seq FROM requests').get()?.seq);
  return { last, doneFrom: fact('first named request') ?? 0, oldest };
}

export function createRepair(database: Database, log: { warn(fields: object, message: string): void }): Repair {
  const repairing = new Repairing(database);
  let running: Promise<void> | null = null;
  async function runUntilDone(): Promise<void> {
    while (!repairing.isStopped) {
      try {
        return await repairing.run();
      } catch (error) {
        if (repairing.isStopped) return;
        log.warn({ error: messageOf(error) }, 'the search index cannot be repaired now');
        await setTimeout(retryMs, undefined, { ref: false });
      }
    }
  }
  function run(): Promise<void> {
    running ??= runUntilDone().finally(() => {
      running = null;
    });
    return running;
  }
  setImmediate(run);
  // By a file that another version may have written.
  database.onReplaced(() => setImmediate(run));
  return {
    run,
    stop() {
      repairing.isStopped = true;
    },
  };
}

class Repairing {
  isStopped = false;
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #names: NamesWriter;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#names = new NamesWriter(database);
  }

  async run(): Promise<void> {
    while (!this.isStopped) {
      const progress = readProgress(this.#database);
      if (progress === null) return;
      const { doneFrom, oldest } = progress;
      if (oldest !== null && doneFrom > oldest) await this.#repairBlock(progress, oldest);
      else await this.#repairOthers(oldest ?? 0);
    }
  }

  /** Repairs what belongs to the newest requests that are left: those of one block, so that each of its names is written once. */
  async #repairBlock({ last, doneFrom }: Progress, oldest: number): Promise<void> {
    const { misplacedCaptures, joinCapture, requests, addErrors, noteDone } = this.#statements;
    const low = Math.max(oldest, blockOf(doneFrom - 1) * blockRows);
    const high = Math.min(doneFrom, last + 1);
    const misplaced = misplacedCaptures.all(low, high);
    await this.#inSlices(misplaced, ({ seq, request_seq }) => joinCapture.run(Number(request_seq), Number(seq)));
    if (this.isStopped) return;
    await this.#pausedAfter(() => {
      this.#names.startBatch();
      this.#database.transaction(() => {
        for (const view of requests.all(low, high).map(toLedgerRow)) {
          this.#names.add(view.seq, view);
          const errors = errorsOf(view);
          if (errors !== '') addErrors.run(view.seq, errors, view.seq);
        }
        noteDone.run(low);
      });
      this.#names.commitBatch();
    });
  }

  /** Repairs what belongs to requests that are no longer kept, and the sessions. */
  async #repairOthers(oldest: number): Promise<void> {
    await this.#leaveStrayCaptures(oldest);
    await this.#placeSessions(oldest);
    const { deleteEarlierNames, noteDone, noteAllDone } = this.#statements;
    for (let deleted = 1; deleted > 0 && !this.isStopped; ) {
      await this.#pausedAfter(() => {
        deleted = deleteEarlierNames.run().changes;
      });
    }
    if (this.isStopped) return;
    this.#database.transaction(() => {
      noteDone.run(0);
      noteAllDone.run();
    });
  }

  /** Captures whose request is no longer kept must not belong to another one. */
  async #leaveStrayCaptures(oldest: number): Promise<void> {
    const { capturesFrom, leaveCapture } = this.#statements;
    let after = { request: oldest, capture: -1 };
    for (let size = rowsPerPiece; size === rowsPerPiece && !this.isStopped; ) {
      const { request, capture } = after;
      const rows = await this.#pausedAfter(() => capturesFrom.all(request, capture));
      size = rows.length;
      const lastRow = rows.at(-1);
      if (lastRow) after = { request: Number(lastRow.request_seq), capture: Number(lastRow.seq) };
      await this.#inSlices(
        rows.filter(({ is_stray }) => is_stray === 1),
        ({ seq }) => leaveCapture.run(Number(seq)),
      );
    }
  }

  async #placeSessions(oldest: number): Promise<void> {
    const { sessionsFrom, placeSession } = this.#statements;
    let after: string | null = '';
    while (after !== null && !this.isStopped) {
      const from: string = after;
      after = await this.#pausedAfter(() =>
        this.#database.transaction(() => {
          const rows = sessionsFrom.all(from);
          // The requests of one without any were older than the oldest.
          for (const { id, last_seq, right_seq } of rows) {
            const seq = number(right_seq) ?? Math.min(Number(last_seq), oldest - 1);
            if (seq !== last_seq) placeSession.run(seq, id ?? '');
          }
          return rows.length < rowsPerPiece ? null : text(rows.at(-1)?.id);
        }),
      );
    }
  }

  async #inSlices<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
    for (let done = 0; done < items.length && !this.isStopped; ) {
      await this.#pausedAfter(() =>
        this.#database.transaction(() => {
          const endMs = performance.now() + captureSliceMs;
          do {
            const item = items[done++];
            if (item !== undefined) work(item);
          } while (done < items.length && performance.now() < endMs);
        }),
      );
    }
  }

  /** Leaves time to the requests that are being served. */
  async #pausedAfter<T>(work: () => T): Promise<T> {
    const beganMs = performance.now();
    const result = work();
    await setTimeout(Math.min((performance.now() - beganMs) * pauseShare, maxPauseMs));
    return result;
  }
}

function prepareStatements(database: Database) {
  return {
    // Answered by indexes alone: a row of `captures` has its bodies before `request_seq`.
    misplacedCaptures: database.prepare(
      `SELECT captures.seq, requests.seq AS request_seq FROM requests CROSS JOIN captures ON captures.id = requests.id
       WHERE requests.seq >= ? AND requests.seq < ? AND requests.captured IS NOT 0 AND NOT EXISTS (
         SELECT 1 FROM captures AS joined INDEXED BY captures_by_request
         WHERE joined.request_seq = requests.seq AND joined.seq = captures.seq
       )`,
    ),
    joinCapture: database.prepare('UPDATE captures SET request_seq = ? WHERE seq = ?'),
    capturesFrom: database.prepare(
      `SELECT captures.request_seq, captures.seq, requests.id IS NOT captures.id AS is_stray
       FROM captures INDEXED BY captures_by_request LEFT JOIN requests ON requests.seq = captures.request_seq
       WHERE captures.request_seq IS NOT NULL AND (captures.request_seq, captures.seq) > (?, ?)
       ORDER BY captures.request_seq, captures.seq LIMIT ${rowsPerPiece}`,
    ),
    leaveCapture: database.prepare('UPDATE captures SET request_seq = NULL WHERE seq = ?'),
    requests: database.prepare(
      `SELECT seq, started_at, key_id, group_id, capability, model_asked, model_served, provider, client, status, outcome,
         error_code, attempts FROM requests WHERE seq >= ? AND seq < ? ORDER BY seq`,
    ),
    addErrors: database.prepare(
      `INSERT INTO error_text (rowid, text)
       SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM error_text_docsize WHERE id = ?)`,
    ),
    noteDone: database.prepare("UPDATE facts SET value = ? WHERE name = 'first named request'"),
    sessionsFrom: database.prepare(
      `SELECT id, last_seq, (
         SELECT max(seq) FROM requests INDEXED BY requests_by_session WHERE session = sessions.id
       ) AS right_seq FROM sessions WHERE id > ? ORDER BY id LIMIT ${rowsPerPiece}`,
    ),
    placeSession: database.prepare('UPDATE sessions SET last_seq = ? WHERE id = ?'),
    deleteEarlierNames: database.prepare(
      `DELETE FROM earlier_names WHERE (dimension, name, block) IN
       (SELECT dimension, name, block FROM earlier_names LIMIT ${rowsPerPiece})`,
    ),
    noteAllDone: database.prepare("DELETE FROM facts WHERE name = 'last request to repair'"),
  };
}
