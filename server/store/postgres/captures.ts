/** Captured headers and bodies in PostgreSQL. They are written with their requests, read, and searched by word. */
import { setImmediate } from 'node:timers/promises';
import type { CaptureAbsence } from '../../contract/capture.ts';
import type { RequestView } from '../../contract/request-views.ts';
import { number } from '../rules/columns.ts';
import { absenceOf, bodiesToStore, type Capture, sizeOf, toCapture, withoutBodies } from '../sqlite/capture-rows.ts';
import type { KeptCapture } from '../sqlite/queries.ts';
import { indexedText } from '../sqlite/text-index.ts';
import { LaterWrite } from './later-write.ts';
import { orMoved, partitionDay } from './partitions.ts';
import type { Postgres, Queries } from './postgres.ts';
import { vectorOf } from './request-conditions.ts';

const insertSql = `INSERT INTO captures (day, id, captured_at, request, response, about, words)
  VALUES ($1, $2, $3, $4, $5, $6, $7::tsvector) ON CONFLICT DO NOTHING`;
const insertAttemptSql = `INSERT INTO captured_attempts (day, id, position, request, response)
  VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`;

const insertSizeSql = `INSERT INTO capture_sizes (day, id, captured_at, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`;

/** These tables have one partition per day. */
export const captureTables = ['captures', 'captured_attempts'] as const;

export const captureDay = ({ capturedAt }: Capture, nowMs: number) => partitionDay(capturedAt, nowMs);

export async function writeCaptures(queries: Queries, captures: readonly Capture[], nowMs: number): Promise<void> {
  for (const capture of captures) {
    const { id, capturedAt, exchange } = capture;
    const { request, response } = exchange;
    const day = captureDay(capture, nowMs);
    const attempts = bodiesToStore(exchange);
    const text = indexedText({ request: request.body, response: response.body }, attempts);
    const metadata = JSON.stringify(withoutBodies(exchange));
    await queries.ask(insertSql, day, id, capturedAt, request.body, response.body, metadata, vectorOf(text));
    for (const each of attempts)
      await queries.ask(insertAttemptSql, day, id, each.position, each.request, each.response);
    await queries.ask(insertSizeSql, day, id, capturedAt, sizeOf(exchange, metadata));
    // Extracting the words takes milliseconds.
    await setImmediate();
  }
}

export async function readCapture(postgres: Postgres, request: RequestView): Promise<KeptCapture> {
  const { rows } = await postgres.ask('SELECT * FROM captures WHERE id = $1 LIMIT 1', request.id);
  const [row] = rows;
  if (!row) return { capture: null, absence: await absenceIn(postgres, request) };
  const attempts = await postgres.ask(
    'SELECT * FROM captured_attempts WHERE day = $1 AND id = $2',
    number(row.day),
    request.id,
  );
  return { capture: toCapture(row, attempts.rows), absence: null };
}

async function absenceIn(postgres: Postgres, request: RequestView): Promise<CaptureAbsence> {
  const { rows } = await postgres.ask(
    `SELECT captured, (SELECT min(captured_at) FROM captures) AS oldest_at FROM requests
     WHERE ${orMoved('day BETWEEN floor($1::float8 / 86400000)::integer - 1 AND floor($1::float8 / 86400000)::integer + 1')}
       AND id = $2`,
    request.startedAt,
    request.id,
  );
  return absenceOf(request, { captured: rows[0]?.captured ?? null, oldestAt: number(rows[0]?.oldest_at) });
}

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  /** Called on each use. */
  maxBytes(): number;
}

const delayMs = 1_000;
/** An arbitrary number that no other program uses in the same database. */
const roomLock = 4_810_007;
const capturesPerBatch = 100;

const heldSql = 'SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM capture_sizes';
/** The oldest, as many as make up $1 bytes; the newest is kept even if it is larger alone. */
const oldestSql = `SELECT day, id FROM (
    SELECT day, id, sum(bytes) OVER (ORDER BY captured_at, id) - bytes AS before FROM (
      SELECT * FROM capture_sizes ORDER BY captured_at, id LIMIT least(${capturesPerBatch}, (SELECT count(*) FROM capture_sizes) - 1)
    ) AS oldest
  ) AS summed WHERE before < $1`;

/**
 * Bounds the captures of all replicas in number of bytes: the oldest are deleted soon after newer ones need their room,
 * by one replica at a time.
 */
export class CaptureRoom {
  readonly #options: Options;
  readonly #trimming: LaterWrite;
  #bytes: number | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#trimming = new LaterWrite({
      write: () => this.trim(),
      failed: (error) => options.log.warn({ error }, 'old captures cannot be deleted'),
      delayMs,
    });
  }

  /** What the captures took when they were last counted, without the index of their words. */
  get bytes(): number | undefined {
    return this.#bytes;
  }

  /** To be called after captures were written. */
  readonly captureWritten = (): void => this.#trimming.due();

  /** Rejects with PostgreSQL's error. */
  async trim(): Promise<void> {
    const { postgres } = this.#options;
    const held = await postgres.exclusive(roomLock, (queries) => this.#removeOldest(queries));
    // Another replica is at it.
    if (held === null) this.#trimming.due();
    else this.#bytes = held;
  }

  /** Resolves with the bytes that are left. */
  async #removeOldest(queries: Queries): Promise<number> {
    for (;;) {
      const { rows } = await queries.ask(heldSql);
      const held = number(rows[0]?.bytes) ?? 0;
      const excess = held - this.#options.maxBytes();
      const oldest = excess > 0 ? (await queries.ask(oldestSql, excess)).rows : [];
      if (oldest.length === 0) return held;
      const days = oldest.map(({ day }) => number(day));
      const ids = oldest.map(({ id }) => String(id));
      for (const table of [...captureTables, 'capture_sizes']) {
        await queries.ask(
          `DELETE FROM ${table} WHERE (day, id) IN (SELECT * FROM unnest($1::integer[], $2::text[]))`,
          days,
          ids,
        );
      }
    }
  }

  close(): Promise<void> {
    return this.#trimming.close();
  }
}
