/**
 * The time by which records expire. The wall clock alone is not safe: if it were a year ahead for a minute, everything
 * would be deleted. Therefore a time stored in the database follows the wall clock at a bounded speed. A wrong clock
 * moves it only a little, and after a long downtime it catches up within hours, during which records are kept longer
 * than necessary.
 */
import { number } from '../rules/columns.ts';
import type { Database } from './database.ts';

/** The bounds of the true time, in Unix milliseconds. */
export interface KnownTime {
  /** Determines a record's minimum age. */
  earliestMs: number;
  /** Records with a later date were written while the clock was ahead. */
  latestMs: number;
}

export interface SweepClock {
  /** Throws if the database cannot be read at present. */
  read(): KnownTime;
  /** The time to record as a last use, so that a clock that is behind does not age it. Unix milliseconds. */
  latestMs(): number;
}

interface ClockSources {
  wallMs(): number;
  /** A monotonic clock, in milliseconds. */
  steadyMs(): number;
}

/** One day in 15 minutes. */
const catchUpSpeed = 96;

export function createSweepClock(database: Database, sources: Partial<ClockSources> = {}): SweepClock {
  const { wallMs = Date.now, steadyMs = () => performance.now() } = sources;
  const selectKnownTime = database.prepare("SELECT value FROM facts WHERE name = 'known time'");
  const storeKnownTime = database.prepare("INSERT OR REPLACE INTO facts VALUES ('known time', ?)");
  const newest = database.prepare('SELECT started_at FROM requests ORDER BY seq DESC LIMIT 1');
  let readAtMs = steadyMs();
  /** Null if it must be read from the database, which may have been replaced. */
  let knownMs: number | null = null;
  database.onReplaced(() => {
    knownMs = null;
  });

  function read(): KnownTime {
    const nowMs = wallMs();
    // A ledger of an older version has only the last request's time.
    knownMs ??= number(selectKnownTime.get()?.value) ?? number(newest.get()?.started_at) ?? nowMs;
    const mayBe = knownMs + (steadyMs() - readAtMs) * catchUpSpeed;
    readAtMs = steadyMs();
    knownMs = Math.max(knownMs, Math.min(nowMs, mayBe));
    storeKnownTime.run(knownMs);
    return { earliestMs: Math.min(nowMs, knownMs), latestMs: Math.max(nowMs, knownMs) };
  }

  try {
    // Read before the first request of this run, whose time may be wrong.
    read();
  } catch {
    // Retried with the first sweep.
  }
  return { read, latestMs: () => Math.max(wallMs(), knownMs ?? 0) };
}
