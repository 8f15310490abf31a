/**
 * The full-text index of captured bodies and of attempts' errors. It stores no text, only which words occur where; rows disappear
 * with the captures and requests they belong to (schema.ts, retention.ts).
 *
 * Captures are indexed after they were written, one at a time, so that long bodies do not delay requests.
 */
import { setImmediate } from 'node:timers/promises';
import { number } from '../rules/columns.ts';
import { matchOf, searchableText } from '../rules/searchable-text.ts';
import { type Bodies, bodiesOf } from './capture-rows.ts';
import type { Database } from './database.ts';

/**
 * Indexed bytes of each capture. Of a request mainly its end, since the client's latest message is there and the rest is the
 * conversation before, which was indexed with its own request.
 */
const requestStartBytes = 8 * 1024;
const requestEndBytes = 24 * 1024;
const responseBytes = 24 * 1024;
const attemptsBytes = 8 * 1024;
/** Newest hits that a search considers. */
const maxHits = 2_000;

export interface TextIndex {
  /** Indexes captures that were written since. Also runs by itself soon after `captureWritten`. */
  catchUp(): Promise<void>;
  /** To be called after a capture was written. */
  captureWritten(): void;
  /** Sequence numbers of requests that contain all words of the search, newest first, at most 2,000. */
  find(search: string): Promise<number[]>;
  stop(): void;
}

export function createTextIndex(database: Database): TextIndex {
  const next = database.prepare(
    `SELECT seq, request, response FROM captures WHERE request_seq IS NOT NULL AND
     seq > coalesce((SELECT value FROM facts WHERE name = 'last indexed capture'), 0) ORDER BY seq LIMIT 1`,
  );
  const attempts = database.prepare(
    'SELECT response FROM captured_attempts WHERE capture_seq = ? AND response NOT NULL',
  );
  const add = database.prepare('INSERT INTO captured_text (rowid, text) VALUES (?, ?)');
  const note = database.prepare("INSERT OR REPLACE INTO facts VALUES ('last indexed capture', ?)");
  let working: Promise<void> | null = null;
  let isStopped = false;

  async function work(): Promise<void> {
    while (!isStopped) {
      const row = next.get();
      if (row === undefined) return;
      const seq = number(row.seq) ?? 0;
      const text = indexedText(bodiesOf(row), attempts.all(seq).map(bodiesOf));
      database.transaction(() => {
        add.run(seq, text);
        note.run(seq);
      });
      await setImmediate();
    }
  }

  function catchUp(): Promise<void> {
    working ??= work().finally(() => {
      working = null;
    });
    return working;
  }

  return {
    catchUp,
    // A failure of the disk is retried with the next capture or search.
    captureWritten: () => void catchUp().catch(() => {}),
    async find(search) {
      const match = matchOf(search);
      if (match === null) return [];
      await catchUp();
      const capturedRows = database
        .prepare(
          // The ids differ where the capture is not repaired yet (repair.ts).
          `SELECT requests.seq FROM captures JOIN requests ON requests.seq = captures.request_seq AND requests.id = captures.id
           WHERE captures.seq IN (SELECT rowid FROM captured_text WHERE captured_text MATCH ? ORDER BY rowid DESC LIMIT ${maxHits})`,
        )
        .all(match);
      const failedRows = database
        .prepare(`SELECT rowid AS seq FROM error_text WHERE error_text MATCH ? ORDER BY rowid DESC LIMIT ${maxHits}`)
        .all(match);
      const seqs = new Set([...capturedRows, ...failedRows].map((row) => Number(row.seq)));
      return [...seqs].sort((one, other) => other - one).slice(0, maxHits);
    },
    stop() {
      isStopped = true;
    },
  };
}

/** The words by which a capture is found. */
export function indexedText(capture: Bodies, attempts: readonly Pick<Bodies, 'response'>[]): string {
  const request = capture.request ?? new Uint8Array();
  const isShort = request.length <= requestStartBytes + requestEndBytes;
  const parts = isShort
    ? [request]
    : [request.subarray(0, requestStartBytes), request.subarray(request.length - requestEndBytes)];
  const responses = [capture.response?.subarray(0, responseBytes)];
  for (const { response } of attempts) responses.push(response?.subarray(0, attemptsBytes));
  return [...parts, ...responses]
    .map((part) => (part ? searchableText(Buffer.from(part).toString()) : ''))
    .filter((words) => words !== '')
    .join(' ');
}
