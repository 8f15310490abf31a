/**
 * Bounds the captures in number of bytes: the oldest are deleted as soon as newer ones need their room. Runs beside the
 * writer, in batches that delay no request. The file keeps its size; its free pages are used again.
 */
import { setImmediate } from 'node:timers/promises';
import { number } from '../rules/columns.ts';
import type { Database } from './database.ts';

/** A batch takes 1 to 3 ms, because captures are large. */
const capturesPerBatch = 10;

export interface CaptureRoom {
  /** What all captures take, without the index of their words. Throws while the file cannot be read. */
  readonly bytes: number;
  /** To be called after a capture was written. */
  captureWritten(): void;
  /** Resolves when the captures are within their bound. */
  trim(): Promise<void>;
  stop(): void;
}

/** `maxBytes` is called on each use. The newest capture is kept even if it is larger alone. */
export function createCaptureRoom(database: Database, maxBytes: () => number): CaptureRoom {
  const held = database.prepare("SELECT value FROM facts WHERE name = 'captured bytes'");
  const oldest = database.prepare(
    `SELECT seq, bytes FROM capture_sizes WHERE seq < (SELECT max(seq) FROM capture_sizes) ORDER BY seq LIMIT ${capturesPerBatch}`,
  );
  const remove = database.prepare('DELETE FROM captures WHERE seq <= ?');
  const heldBytes = () => number(held.get()?.value) ?? 0;
  let trimming: Promise<void> | null = null;
  let isStopped = false;

  /** False if nothing has to be deleted. */
  function removeOldest(): boolean {
    let excess = heldBytes() - maxBytes();
    let last: number | null = null;
    for (const { seq, bytes } of excess > 0 ? oldest.all() : []) {
      if (excess <= 0) break;
      last = Number(seq);
      excess -= Number(bytes);
    }
    return last !== null && remove.run(last).changes > 0;
  }

  async function work(): Promise<void> {
    while (!isStopped && removeOldest()) await setImmediate();
  }

  function trim(): Promise<void> {
    trimming ??= work().finally(() => {
      trimming = null;
    });
    return trimming;
  }

  return {
    get bytes() {
      return heldBytes();
    },
    // A failure of the disk is retried with the next capture or sweep.
    captureWritten: () => void trim().catch(() => {}),
    trim,
    stop() {
      isStopped = true;
    },
  };
}
