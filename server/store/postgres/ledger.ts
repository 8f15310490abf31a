/**
 * The ledger in PostgreSQL, which any number of replicas write and read. Requests wait in memory for a fraction of a
 * second and are written in batches; no request waits for the database.
 */

import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createSerialQueue } from '../../ground/promises.ts';
import { settleWithin } from '../../ground/timers.ts';
import { number, text } from '../rules/columns.ts';
import { messageOf, unreadable } from '../rules/failures.ts';
import { storableRow } from '../rules/storable-row.ts';
import type { BudgetSums } from '../sqlite/budget-sums.ts';
import type { Ledger, SessionStates } from '../sqlite/ledger.ts';
import type { RetentionLimits } from '../sqlite/retention.ts';
import { SetAsideRows, setAsideName } from '../sqlite/set-aside-rows.ts';
import { CaptureRoom } from './captures.ts';
import { createPostgresQueries, readBudgetUsedUsd } from './ledger-queries.ts';
import { LedgerSpool } from './ledger-spool.ts';
import { LedgerWriter, parts } from './ledger-writer.ts';
import { channel, type Notices } from './notices.ts';
import { PostgresPins } from './pins.ts';
import { explained, type Postgres, repeat } from './postgres.ts';
import { PostgresRefusals } from './refusals.ts';
import { Replicas } from './replicas.ts';
import { Sweeps } from './sweeps.ts';
import { PostgresUsageHistory } from './usage-history.ts';
import { WaitingBatches } from './waiting-batches.ts';

interface Options {
  postgres: Postgres;
  /** Separate connections, so that queries do not delay writes. */
  reading: Postgres;
  notices: Notices;
  /** Folder for requests that wait while the database is unavailable; null to keep them in memory only. */
  spoolFolder: string | null;
  log: { warn(fields: object, message: string): void };
  /** Called on each use, so that changed settings take effect immediately. */
  settings(): RetentionLimits;
}

type Recording = Pick<Ledger, 'started' | 'finished' | 'counted' | 'joined' | 'capture'>;

/** Limit for signing off from the database, which works without it too. */
const closeMs = 1_000;

/** The ledger itself holds the amounts spent, because it is backed up as a whole. */
const noBudgetSums: BudgetSums = {
  find: () => null,
  keep() {},
  forget() {},
  isEmpty: true,
  problem: null,
  flush() {},
  close() {},
};

/** Rejects with PostgreSQL's error. */
export async function openPostgresLedger(options: Options): Promise<Ledger> {
  const { postgres, reading, spoolFolder, log, settings } = options;
  const replica = { postgres, log, replica: randomUUID(), part: randomInt(parts) };
  const spool = spoolFolder === null ? null : await LedgerSpool.open({ ...replica, folder: spoolFolder });
  const setAside = new SetAsideRows({ file: spoolFolder === null ? null : join(spoolFolder, setAsideName), log });
  const captureRoom = new CaptureRoom({ postgres, log, maxBytes: () => settings().captureBytes });
  const writer = new LedgerWriter({ ...replica, captureWritten: captureRoom.captureWritten });
  const waitingBatches = new WaitingBatches({ writer, setAside, spool, log });
  const replicas = new Replicas(replica);
  const refusals = new PostgresRefusals({ postgres, log });
  const stoppedSessions = new StoppedSessions(options);
  const pins = new PostgresPins(options);
  const keyUses = new KeyUses(reading, log);
  const sweeps = new Sweeps({ postgres, log, settings, captureRoom });
  const flush = async () => {
    await Promise.all([waitingBatches.flush(), refusals.flush()]);
  };
  await Promise.all([replicas.start(), stoppedSessions.open(), pins.open(), refusals.read(), keyUses.read()]);
  return {
    ...createPostgresQueries({ postgres: reading, flush, lastUsed: () => keyUses.lastUsed }),
    ...recordingIn(waitingBatches, keyUses, refusals),
    history: new PostgresUsageHistory(reading, setAside),
    refusals,
    pins,
    budgets: noBudgetSums,
    sessionStates: sessionStatesIn({ stoppedSessions, waitingBatches, reading, log }),
    flush,
    health: () => ({
      ...waitingBatches.health,
      budgetsError: null,
      replaced: null,
      capturedBytes: captureRoom.bytes || undefined,
    }),
    sweep: () => sweeps.sweep(),
    async close() {
      keyUses.close();
      const hasAnswered = await waitingBatches.close();
      const signedOff = Promise.all([captureRoom.close(), sweeps.close(), refusals.close(), replicas.close()]);
      // A database that has been silent for so long would only take the time that is left for the end.
      await settleWithin(hasAnswered ? closeMs : 0, signedOff);
    },
  };
}

function recordingIn(waitingBatches: WaitingBatches, keyUses: KeyUses, refusals: PostgresRefusals): Recording {
  return {
    started(row, reserved) {
      keyUses.note(row.keyId, row.startedAt);
      waitingBatches.add(reserved ? { ...row, reserved } : row);
    },
    finished(ended, bookedJob) {
      const row = storableRow(ended);
      keyUses.note(row.keyId, row.startedAt);
      waitingBatches.add(bookedJob ? { ...row, books: bookedJob } : row);
      return row;
    },
    counted(ended) {
      const row = storableRow(ended);
      keyUses.note(row.keyId, row.startedAt);
      refusals.add(row);
      waitingBatches.add({ ...row, isOnlyCounted: true });
      return row;
    },
    joined: (joinedRequest) => waitingBatches.join(joinedRequest),
    capture: (id, exchange) => waitingBatches.addCapture({ id, capturedAt: Date.now(), exchange }),
  };
}

interface SessionPorts extends Pick<Options, 'reading' | 'log'> {
  stoppedSessions: StoppedSessions;
  waitingBatches: WaitingBatches;
}

function sessionStatesIn({ stoppedSessions, waitingBatches, reading, log }: SessionPorts): SessionStates {
  return {
    async setStopped(id, stoppedAt) {
      await waitingBatches.flush();
      return explained(() => stoppedSessions.set(id, stoppedAt), unreadable);
    },
    stopped: () => [...stoppedSessions.ids],
    async budgetUsedUsd(id) {
      try {
        return await readBudgetUsedUsd(reading, id);
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'what a session has spent cannot be read');
        return null;
      }
    },
    onChange: (listener) => stoppedSessions.onChange(listener),
  };
}

// The last use of each key at any replica. Kept in memory because views of keys are built synchronously.

/** How often uses at other replicas are read. */
const pollMs = 15_000;
/** Clocks of replicas may differ by this much, and rows may wait before they are written. */
const slackMs = 120_000;

class KeyUses {
  readonly #postgres: Postgres;
  readonly #lastUsed = new Map<string, number>();
  readonly #polls: NodeJS.Timeout;
  #newestMs = 0;

  constructor(postgres: Postgres, log: { warn(fields: object, message: string): void }) {
    this.#postgres = postgres;
    this.#polls = repeat({
      everyMs: pollMs,
      work: () => this.read(),
      log,
      failed: 'last uses of keys cannot be read',
    });
  }

  /** Unix milliseconds by key id. */
  get lastUsed(): Map<string, number> {
    return this.#lastUsed;
  }

  note(keyId: string | null, timeMs: number): void {
    if (keyId !== null && timeMs > (this.#lastUsed.get(keyId) ?? 0)) this.#lastUsed.set(keyId, timeMs);
  }

  /** Rejects with PostgreSQL's error. */
  async read(): Promise<void> {
    const { rows } = await this.#postgres.ask(
      'SELECT key_id, last_used_at FROM key_uses WHERE last_used_at > $1',
      this.#newestMs - slackMs,
    );
    for (const row of rows) {
      const timeMs = number(row.last_used_at) ?? 0;
      this.note(text(row.key_id), timeMs);
      this.#newestMs = Math.max(this.#newestMs, timeMs);
    }
  }

  close(): void {
    clearInterval(this.#polls);
  }
}

// The stopped sessions. Every replica keeps them in memory and is notified of changes by the others.

interface StoppedOptions {
  postgres: Postgres;
  notices: Notices;
  log: { warn(fields: object, message: string): void };
}

type Listener = (id: string, isStopped: boolean) => void;

const stopSql = `WITH changed AS (UPDATE sessions SET stopped_at = $2,
    resumed_usd = CASE WHEN $2::float8 IS NULL THEN cost_usd ELSE resumed_usd END WHERE id = $1 RETURNING id)
  SELECT pg_notify('${channel}', 'sessions') FROM changed`;

export class StoppedSessions {
  readonly #options: StoppedOptions;
  readonly #listeners: Listener[] = [];
  readonly #inTurn = createSerialQueue();
  #ids: ReadonlySet<string> = new Set();

  constructor(options: StoppedOptions) {
    this.#options = options;
  }

  /** Ids of the stopped sessions. */
  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /** Rejects with PostgreSQL's error. */
  async open(): Promise<void> {
    await this.#read();
    this.#options.notices.on('sessions', () => void this.#readQuietly());
  }

  /** Calls the listener for each session that is stopped or resumed, here or at another replica. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /**
   * Stops a session, so that its requests are refused, or resumes it with a new budget. Resolves with false if there is
   * no such session.
   */
  async set(id: string, stoppedAt: number | null): Promise<boolean> {
    const { count } = await this.#options.postgres.ask(stopSql, id, stoppedAt);
    await this.#read();
    return count > 0;
  }

  /** Serialized, so that an older answer cannot replace a newer one. */
  #read(): Promise<void> {
    return this.#inTurn(() => this.#readNow());
  }

  async #readNow(): Promise<void> {
    const previousIds = this.#ids;
    const { rows } = await this.#options.postgres.ask('SELECT id FROM sessions WHERE stopped_at IS NOT NULL');
    this.#ids = new Set(rows.map(({ id }) => String(id)));
    for (const id of this.#ids) if (!previousIds.has(id)) this.#tell(id, true);
    for (const id of previousIds) if (!this.#ids.has(id)) this.#tell(id, false);
  }

  #tell(id: string, isStopped: boolean): void {
    for (const listener of this.#listeners) listener(id, isStopped);
  }

  async #readQuietly(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'stopped sessions cannot be read; they stay as they are');
    }
  }
}
