/** Converts requests to rows of the table `requests` and back. */

import { captureCauses } from '../../contract/capture.ts';
import {
  type AttemptRecord,
  type CacheNote,
  cassetteNotes,
  type RequestOutcome,
  type RequestRecord,
  type RequestSession,
  type RequestStarted,
  type Reserved,
  type ShadowedRequest,
  type ToolResult,
  type Usage,
  type UsageCertainty,
} from '../../contract/ledger.ts';
import { operations } from '../../contract/operations.ts';
import type { RequestView } from '../../contract/request-views.ts';
import { json, number, type Row, type SqlValue, text } from './columns.ts';

/** In the order of `startedValues`. */
export const startedColumns =
  'id, started_at, key_id, group_id, route, method, capability, model_asked, stream, session, thread, step, ' +
  'shadow_of, tools';
/** In the order of `finishedValues`. */
export const finishedColumns =
  'outcome, status, error_code, model_served, provider, credential, queue_ms, connect_ms, first_byte_ms, total_ms, ' +
  'bytes_in, bytes_out, upstream_request_id, attempts, usage, usage_certainty, cost_usd, client, client_retries, ' +
  'first_content_ms, longest_gap_ms, losses, captured, cached, fault, cassette, same_answer';

const marks = (columns: string) => columns.replaceAll(/\w+/g, '?');

/** In the order of `reservedValues`. */
export const reservedColumns = 'usage, usage_certainty, cost_usd';

export const insertStartedSql =
  `INSERT INTO requests (${startedColumns}, ${reservedColumns}) ` +
  `VALUES (${marks(startedColumns)}, ${marks(reservedColumns)})`;
export const insertFinishedSql =
  `INSERT INTO requests (${startedColumns}, ${finishedColumns}) ` +
  `VALUES (${marks(startedColumns)}, ${marks(finishedColumns)})`;
/** The last parameter is the row's `seq`. */
export const updateFinishedSql = `UPDATE requests SET ${finishedColumns.replaceAll(/\w+/g, '$& = ?')} WHERE seq = ?`;

/** A running request. */
export interface BegunRow extends RequestStarted {
  /** Counts as the usage if the process ends before the request. */
  reserved?: Reserved | null;
}

/** A request that has ended. */
export interface EndedRow extends RequestRecord {
  /** The job whose usage this request reports; an earlier request created it. */
  books?: BookedJob | undefined;
  /** It counts in the sums of usage and gets no row. */
  isOnlyCounted?: true;
}

export interface BookedJob {
  kind: string;
  groupId: string;
  id: string;
}

/** The first parameters of `insertStartedSql` (then `reservedValues`) and of `insertFinishedSql` (then `finishedValues`). */
export function startedValues(row: RequestStarted): SqlValue[] {
  return [
    row.id,
    row.startedAt,
    row.keyId,
    row.groupId,
    row.route,
    row.method,
    row.capability,
    row.modelAsked,
    row.stream ? 1 : 0,
    row.session?.id ?? null,
    row.session?.thread ?? null,
    row.session?.step ?? null,
    row.shadowOf === null ? null : JSON.stringify(row.shadowOf),
    row.session && row.session.tools.length > 0 ? JSON.stringify(row.session.tools) : null,
  ];
}

export function reservedValues({ reserved }: BegunRow): SqlValue[] {
  return reserved ? [JSON.stringify(reserved.usage), 'reserved', reserved.costUsd] : [null, null, null];
}

/** In the order of `updateFinishedSql`. */
export function finishedValues(row: RequestRecord): SqlValue[] {
  const isPlainRow = isPlain(row);
  const onlyAttempt = isPlainRow ? row.attempts[0] : undefined;
  return [
    row.outcome,
    row.status,
    row.errorCode,
    row.modelServed,
    row.provider,
    row.credential,
    row.queueMs,
    row.connectMs,
    row.firstByteMs,
    row.totalMs,
    row.bytesIn,
    row.bytesOut,
    row.attempts.at(-1)?.upstreamRequestId ?? null,
    isPlainRow ? null : JSON.stringify(row.attempts),
    row.usage === null ? null : JSON.stringify(row.usage),
    row.usageCertainty,
    row.costUsd,
    row.client,
    row.clientRetries,
    onlyAttempt?.firstContentMs ?? null,
    onlyAttempt?.longestGapMs ?? null,
    lossesOf(row),
    row.captured ?? 0,
    row.cached === null ? null : JSON.stringify(row.cached),
    row.fault,
    row.cassette,
    row.sameAnswer === null ? null : Number(row.sameAnswer),
  ];
}

function lossesOf({ dropped, emulated }: RequestRecord): string | null {
  return dropped.length + emulated.length === 0 ? null : JSON.stringify({ dropped, emulated });
}

/** A single successful attempt only repeats the row's columns; omitting it halves the size of most rows. */
function isPlain({ attempts: [first, ...others], provider, status, totalMs }: RequestRecord): boolean {
  if (!first) return provider === null;
  const isSuccess =
    first.failure === null && first.error === null && first.droppedEvents === 0 && first.status === status;
  return others.length === 0 && isSuccess && first.totalMs !== null && first.totalMs <= totalMs;
}

/** Restores the attempt omitted by `isPlain`: it began when the request left the queue and ended with the request. */
function plainAttempt(row: Row): AttemptRecord[] {
  const provider = text(row.provider);
  if (provider === null) return [];
  const queueMs = number(row.queue_ms) ?? 0;
  return [
    {
      cause: 'first',
      provider,
      credential: text(row.credential),
      model: text(row.model_served),
      startedAt: Math.round((number(row.started_at) ?? 0) + queueMs),
      connectMs: number(row.connect_ms),
      firstByteMs: number(row.first_byte_ms),
      firstContentMs: number(row.first_content_ms),
      longestGapMs: number(row.longest_gap_ms),
      totalMs: (number(row.total_ms) ?? 0) - queueMs,
      status: number(row.status),
      failure: null,
      error: null,
      droppedEvents: 0,
      upstreamRequestId: text(row.upstream_request_id),
      usage: json<Usage | null>(row.usage, null),
      usageCertainty: (text(row.usage_certainty) as UsageCertainty | null) ?? 'none',
      costUsd: number(row.cost_usd),
    },
  ];
}

function sessionOf(row: Row): RequestSession | null {
  const id = text(row.session);
  if (id === null) return null;
  const step = sessionSteps.find((each) => each === row.step) ?? null;
  return { id, name: null, thread: text(row.thread), step, tools: json<ToolResult[]>(row.tools, []) };
}

const sessionSteps = ['prompt', 'tools'] as const;

type KeptLosses = Pick<RequestRecord, 'dropped' | 'emulated'>;

const noLosses: KeptLosses = { dropped: [], emulated: [] };

/** While a request runs, its usage columns hold the reservation, which is not shown. */
export function toLedgerRow(row: Row): RequestView {
  const hasEnded = row.outcome !== null;
  return {
    seq: number(row.seq) ?? 0,
    id: text(row.id) ?? '',
    startedAt: number(row.started_at) ?? 0,
    keyId: text(row.key_id),
    groupId: text(row.group_id),
    route: text(row.route) ?? '',
    method: text(row.method) ?? '',
    capability: operations.find((each) => each === row.capability) ?? null,
    modelAsked: text(row.model_asked),
    stream: row.stream === 1,
    session: sessionOf(row),
    shadowOf: json<ShadowedRequest | null>(row.shadow_of, null),
    outcome: text(row.outcome) as RequestOutcome | null,
    status: number(row.status),
    errorCode: text(row.error_code),
    modelServed: text(row.model_served),
    provider: text(row.provider),
    credential: text(row.credential),
    queueMs: number(row.queue_ms),
    connectMs: number(row.connect_ms),
    firstByteMs: number(row.first_byte_ms),
    totalMs: number(row.total_ms),
    bytesIn: number(row.bytes_in) ?? 0,
    bytesOut: number(row.bytes_out) ?? 0,
    attempts: row.attempts === null ? plainAttempt(row) : json<AttemptRecord[]>(row.attempts, []),
    usage: hasEnded ? json<Usage | null>(row.usage, null) : null,
    usageCertainty: (hasEnded ? (text(row.usage_certainty) as UsageCertainty | null) : null) ?? 'none',
    costUsd: hasEnded ? number(row.cost_usd) : null,
    client: text(row.client),
    clientRetries: number(row.client_retries) ?? 0,
    ...json<KeptLosses>(row.losses, noLosses),
    captured: captureCauses.find((cause) => cause === row.captured) ?? null,
    cached: json<CacheNote | null>(row.cached, null),
    fault: text(row.fault),
    cassette: cassetteNotes.find((note) => note === row.cassette) ?? null,
    sameAnswer: row.same_answer === null ? null : row.same_answer === 1,
  };
}
