/**
 * The time by which old records are deleted. The wall clock alone does not do: one that is a year ahead for a minute would
 * have everything deleted. So the last known time is kept in the database, and it follows the wall clock at a bounded
 * speed: a clock that is wrong for a while moves it little, and after a long time without Sluice it catches up within
 * hours. Until then records are kept longer than they need to be.
 */
import { number } from './columns.ts';
import type { Database } from './database.ts';

/** Unix milliseconds between which the true time lies, as far as anybody knows. */
export interface KnownTime {
  /** For the age of a record: it is at least that old. */
  earliestMs: number;
  /** A record that is dated later was written by a clock that was ahead. */
  latestMs: number;
}

export interface SweepClock {
  /** Throws if the database cannot be read now. */
  read(): KnownTime;
  /** What to date the use of a record by, so that a clock that is behind does not make it old. Unix milliseconds. */
  latestMs(): number;
}

interface ClockSources {
  wallMs(): number;
  /** Of a clock that nobody sets. */
  steadyMs(): number;
}

/** A day in a quarter of an hour. */
const catchUpSpeed = 96;

export function createSweepClock(database: Database, sources: Partial<ClockSources> = {}): SweepClock {
  const { wallMs = Date.now, steadyMs = () => performance.now() } = sources;
  const kept = database.prepare("SELECT value FROM facts WHERE name = 'known time'");
  const keep = database.prepare("INSERT OR REPLACE INTO facts VALUES ('known time', ?)");
  const newest = database.prepare('SELECT started_at FROM requests ORDER BY seq DESC LIMIT 1');
  let readAtMs = steadyMs();
  /** Null: it has to be read from the database, which may be another one by now. */
  let knownMs: number | null = null;
  database.onReplaced(() => {
    knownMs = null;
  });

  function read(): KnownTime {
    const nowMs = wallMs();
    // A ledger of an older version tells when it was last used.
    knownMs ??= number(kept.get()?.value) ?? number(newest.get()?.started_at) ?? nowMs;
    const mayBe = knownMs + (steadyMs() - readAtMs) * catchUpSpeed;
    readAtMs = steadyMs();
    knownMs = Math.max(knownMs, Math.min(nowMs, mayBe));
    keep.run(knownMs);
    return { earliestMs: Math.min(nowMs, knownMs), latestMs: Math.max(nowMs, knownMs) };
  }

  try {
    // Before the first request of this run, which may be dated by a wrong clock.
    read();
  } catch {
    // Tried again with the first sweep.
  }
  return { read, latestMs: () => Math.max(wallMs(), knownMs ?? 0) };
}
