/** Captured headers and bodies in PostgreSQL. They are written with their requests, read, and searched by word. */
import { setImmediate } from 'node:timers/promises';
import type { CaptureAbsence } from '../../contract/capture.ts';
import type { RequestView } from '../../contract/request-views.ts';
import { number } from '../rules/columns.ts';
import { absenceOf, bodiesToStore, type Capture, sizeOf, toCapture, withoutBodies } from '../sqlite/capture-rows.ts';
import type { KeptCapture } from '../sqlite/queries.ts';
import { indexedText } from '../sqlite/text-index.ts';
import { vectorOf } from './matched-words.ts';
import { orMoved, partitionDay } from './partitions.ts';
import type { Postgres, Queries } from './postgres.ts';

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
