/** Converts captured exchanges to rows and back. Bodies are blobs; everything else is JSON in the column `about`. */
import type {
  CaptureAbsence,
  CapturedAttempt,
  CapturedExchange,
  CapturedMessage,
  CapturedRequest,
  CapturedResponse,
  HeaderList,
} from '../../contract/capture.ts';
import type { RequestView } from '../../contract/request-views.ts';
import { bytes, json, number, type Row, type SqlValue } from '../rules/columns.ts';
import type { Database } from './database.ts';

export interface Capture {
  /** The id of the request. */
  id: string;
  capturedAt: number;
  exchange: CapturedExchange<Uint8Array>;
}

export type Bodies = Record<'request' | 'response', Uint8Array | null>;

/** Returns a function that writes a capture. `requestSeq` is null if the request's row is unknown. */
export function prepareCaptureWriter(database: Database) {
  const captures = database.prepareInsert(
    'INSERT INTO captures (id, captured_at, request, response, about, request_seq) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const insertAttempt = database.prepare('INSERT INTO captured_attempts VALUES (?, ?, ?, ?)');
  const insertSize = database.prepare('INSERT INTO capture_sizes VALUES (?, ?)');
  return ({ id, capturedAt, exchange }: Capture, requestSeq: number | null): void => {
    const { request, response } = exchange;
    const metadata = JSON.stringify(withoutBodies(exchange));
    const seq = captures.insert(id, capturedAt, request.body, response.body, metadata, requestSeq);
    for (const each of bodiesToStore(exchange)) insertAttempt.run(seq, each.position, each.request, each.response);
    insertSize.run(seq, sizeOf(exchange, metadata));
  };
}

/** What a capture takes: headers and bodies, also those of its attempts. `metadata`: the part that is stored as JSON. */
export function sizeOf(exchange: CapturedExchange<Uint8Array>, metadata: string): number {
  const sides = [exchange, ...exchange.attempts].flatMap(({ request, response }) => [request.body, response.body]);
  return sides.reduce((sum, body) => sum + (body?.length ?? 0), Buffer.byteLength(metadata));
}

interface AttemptBodies extends Bodies {
  /** Among the attempts of the request. */
  position: number;
}

/** The bodies of attempts that have any of their own. */
export function bodiesToStore({ attempts }: CapturedExchange<Uint8Array>): AttemptBodies[] {
  const all = attempts.map(({ request, response }, position) => ({
    position,
    request: request.body,
    response: response.body,
  }));
  return all.filter(({ request, response }) => request !== null || response !== null);
}

/** Null if nothing of the request was captured. */
export function readCapture(database: Database, id: string): CapturedExchange<Uint8Array> | null {
  const row = database.prepare('SELECT * FROM captures WHERE id = ?').get(id);
  if (row === undefined) return null;
  return toCapture(row, database.prepare('SELECT * FROM captured_attempts WHERE capture_seq = ?').all(number(row.seq)));
}

/** Why there is no capture of a request. `captured`: of its row, 0 or the cause; `oldestAt`: of all captures that are left. */
export function absenceOf(
  { startedAt, outcome, capability }: Pick<RequestView, 'startedAt' | 'outcome' | 'capability'>,
  { captured, oldestAt }: { captured: SqlValue; oldestAt: number | null },
): CaptureAbsence {
  if (outcome === null) return 'running';
  if (capability === 'realtime') return 'session';
  if (captured === null) return outcome === 'interrupted' ? 'lost' : 'unknown';
  if (String(captured) === '0') return 'off';
  // Captures are deleted from the oldest on.
  return oldestAt === null || startedAt <= oldestAt ? 'expired' : 'lost';
}

/** Converts a row of `captures` and its rows of `captured_attempts`. */
export function toCapture(row: Row, attempts: readonly Row[]): CapturedExchange<Uint8Array> {
  if (row.about === null) return older(row);
  const bodies = new Map(attempts.map((each) => [Number(each.position), bodiesOf(each)]));
  const metadata = json<CapturedExchange<null>>(row.about, unreadable);
  return {
    ...withBodies(metadata, bodiesOf(row)),
    attempts: metadata.attempts.map((attempt, position) => withBodies(attempt, bodies.get(position) ?? noBodies)),
  };
}

const noBodies: Bodies = { request: null, response: null };

/** Missing columns count as none. */
export function bodiesOf(row: Row): Bodies {
  return { request: bytes(row.request), response: bytes(row.response) };
}

/** The part that is stored as JSON. */
export function withoutBodies({ request, response, attempts }: CapturedExchange<Uint8Array>): CapturedExchange<null> {
  const without = (each: CapturedAttempt<Uint8Array>): CapturedAttempt<null> => ({
    request: { ...each.request, body: null },
    response: { ...each.response, body: null },
  });
  return { ...without({ request, response }), attempts: attempts.map(without) };
}

function withBodies({ request, response }: CapturedAttempt<null>, bodies: Bodies): CapturedAttempt<Uint8Array> {
  return { request: { ...request, body: bodies.request }, response: { ...response, body: bodies.response } };
}

/** Converts a row of an older version, which stored the provider's headers and no attempts. */
function older(row: Row): CapturedExchange<Uint8Array> {
  const { request, response } = bodiesOf(row);
  return {
    request: { method: '', url: null, ...olderMessage(request, json<HeaderList | null>(row.request_headers, null)) },
    response: { status: null, ...olderMessage(response, json<HeaderList | null>(row.response_headers, null)) },
    attempts: [],
  };
}

function olderMessage(body: Uint8Array | null, headers: HeaderList | null): CapturedMessage<Uint8Array> {
  return { headers, body, bytes: null, gap: body === null ? 'older-version' : null };
}

const nothing: CapturedMessage<null> = { headers: null, body: null, bytes: null, gap: 'older-version' };
const noRequest: CapturedRequest<null> = { method: '', url: null, ...nothing };
const noResponse: CapturedResponse<null> = { status: null, ...nothing };
const unreadable: CapturedExchange<null> = { request: noRequest, response: noResponse, attempts: [] };
