/** A request as a row of the table `requests`, and back. */

import { capabilitySchema } from '../contract/config.ts';
import type {
  AttemptRecord,
  RequestOutcome,
  RequestRecord,
  RequestStarted,
  Usage,
  UsageCertainty,
} from '../contract/ledger.ts';
import type { Row, SqlValue } from '../database.ts';

/** A request as it is read back. `outcome` is null while it runs; `totalMs` is also unknown if it was interrupted. */
export type LedgerRow = Omit<RequestRecord, 'outcome' | 'totalMs'> & {
  /** Its place in the ledger; rises with time. Serves as the cursor of a list. */
  seq: number;
  outcome: RequestOutcome | null;
  totalMs: number | null;
};

const startedColumns = 'id, started_at, key_id, group_id, route, method, capability, model_asked, stream';
const finishedColumns =
  'outcome, status, error_code, model_served, provider, credential, queue_ms, connect_ms, first_byte_ms, total_ms, ' +
  'bytes_in, bytes_out, upstream_request_id, attempts, usage, usage_certainty, cost_usd, client, client_retries';

const marks = (columns: string) => columns.replaceAll(/\w+/g, '?');

export const insertStartedSql = `INSERT INTO requests (${startedColumns}) VALUES (${marks(startedColumns)})`;
export const insertFinishedSql =
  `INSERT INTO requests (${startedColumns}, ${finishedColumns}) ` +
  `VALUES (${marks(startedColumns)}, ${marks(finishedColumns)})`;
/** Its last parameter is the `seq` of the row. */
export const updateFinishedSql = `UPDATE requests SET ${finishedColumns.replaceAll(/\w+/g, '$& = ?')} WHERE seq = ?`;

/** The values of a request that runs, in the order of `insertStartedSql`. */
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
  ];
}

/** The values that a request has once it ended, in the order of `updateFinishedSql`. */
export function finishedValues(row: RequestRecord): SqlValue[] {
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
    isPlain(row) ? null : JSON.stringify(row.attempts),
    row.usage === null ? null : JSON.stringify(row.usage),
    row.usageCertainty,
    row.costUsd,
    row.client,
    row.clientRetries,
  ];
}

/** One attempt that went well repeats what its row says; leaving it out halves what most rows cost. */
function isPlain({ attempts: [only, ...others], provider, status, totalMs }: RequestRecord): boolean {
  if (!only) return provider === null;
  const wentWell = only.failure === null && only.error === null && only.status === status;
  return others.length === 0 && wentWell && only.totalMs !== null && only.totalMs <= totalMs;
}

/** The attempt that `isPlain` left out: it began when the request left the queue and ended with it. */
function plainAttempt(row: Row): AttemptRecord[] {
  const provider = text(row.provider);
  if (provider === null) return [];
  const queueMs = number(row.queue_ms) ?? 0;
  return [
    {
      provider,
      credential: text(row.credential),
      model: text(row.model_served),
      startedAt: Math.round((number(row.started_at) ?? 0) + queueMs),
      connectMs: number(row.connect_ms),
      firstByteMs: number(row.first_byte_ms),
      totalMs: (number(row.total_ms) ?? 0) - queueMs,
      status: number(row.status),
      failure: null,
      error: null,
      upstreamRequestId: text(row.upstream_request_id),
    },
  ];
}

export const text = (value: SqlValue | undefined): string | null => (typeof value === 'string' ? value : null);
export const number = (value: SqlValue | undefined): number | null => (typeof value === 'number' ? value : null);

/** Only this module writes these columns, so what is in them has the type that was written. */
const json = <T>(value: SqlValue | undefined, otherwise: T): T =>
  typeof value === 'string' ? (JSON.parse(value) as T) : otherwise;

export function toLedgerRow(row: Row): LedgerRow {
  return {
    seq: number(row.seq) ?? 0,
    id: text(row.id) ?? '',
    startedAt: number(row.started_at) ?? 0,
    keyId: text(row.key_id),
    groupId: text(row.group_id),
    route: text(row.route) ?? '',
    method: text(row.method) ?? '',
    capability: capabilitySchema.safeParse(row.capability).data ?? null,
    modelAsked: text(row.model_asked),
    stream: row.stream === 1,
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
    usage: json<Usage | null>(row.usage, null),
    usageCertainty: (text(row.usage_certainty) as UsageCertainty | null) ?? 'none',
    costUsd: number(row.cost_usd),
    client: text(row.client),
    clientRetries: number(row.client_retries) ?? 0,
  };
}
