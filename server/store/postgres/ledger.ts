/**
 * The ledger in PostgreSQL, which any number of replicas write and read. Requests wait in memory for a fraction of a
 * second and are written in batches; no request waits for the database.
 */

import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { settleWithin } from '../../ground/timers.ts';
import { messageOf, unreadable } from '../rules/failures.ts';
import { storableRow } from '../rules/storable-row.ts';
import type { BudgetSums } from '../sqlite/budget-sums.ts';
import type { Ledger } from '../sqlite/ledger.ts';
import type { RetentionLimits } from '../sqlite/retention.ts';
import type { SessionStates } from '../sqlite/session-states.ts';
import { SetAsideRows, setAsideName } from '../sqlite/set-aside-rows.ts';
import { CaptureRoom } from './captures.ts';
import { explained } from './failures.ts';
import { KeyUses } from './key-uses.ts';
import { createPostgresQueries } from './ledger-queries.ts';
import { LedgerSpool } from './ledger-spool.ts';
import { LedgerWriter, parts } from './ledger-writer.ts';
import type { Notices } from './notices.ts';
import { createPostgresPins } from './pins.ts';
import type { Postgres } from './postgres.ts';
import { PostgresRefusals } from './refusals.ts';
import { Replicas } from './replicas.ts';
import { readBudgetUsedUsd } from './session-queries.ts';
import { StoppedSessions } from './stopped-sessions.ts';
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
  const keyUses = new KeyUses(reading, log);
  const sweeps = new Sweeps({ postgres, log, settings, captureRoom });
  const flush = async () => {
    await Promise.all([waitingBatches.flush(), refusals.flush()]);
  };
  await Promise.all([replicas.start(), stoppedSessions.open(), refusals.read(), keyUses.read()]);
  return {
    ...createPostgresQueries({ postgres: reading, flush, lastUsed: () => keyUses.lastUsed }),
    ...recordingIn(waitingBatches, keyUses, refusals),
    history: new PostgresUsageHistory(reading, setAside),
    refusals,
    pins: createPostgresPins(postgres),
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
