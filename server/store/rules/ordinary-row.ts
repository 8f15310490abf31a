/**
 * A quick look at a row, which recognises nearly all that are storable in a fraction of a microsecond. The rules are those of
 * `storable-row.ts`, which examines every other row.
 */
import type { AttemptRecord, RequestStarted, Usage } from '../../contract/ledger.ts';
import type { LossNote } from '../../contract/loss-codes.ts';
import { maxAmount, maxErrorLength, maxInteger, maxMs, maxNameLength, maxTimeMs } from './row-bounds.ts';
import type { BegunRow, EndedRow } from './rows.ts';

type Row = BegunRow | EndedRow;

/** False also for some storable rows. */
export function isOrdinaryRow(row: Row): boolean {
  return isOrdinaryStart(row) && ('outcome' in row ? isOrdinaryEnd(row) : isOrdinaryReserve(row));
}

function isOrdinaryStart(row: RequestStarted): boolean {
  return (
    isName(row.id) &&
    isAtMost(row.startedAt, maxTimeMs) &&
    isName(row.keyId) &&
    isName(row.groupId) &&
    isName(row.route) &&
    isName(row.method) &&
    isName(row.modelAsked) &&
    isOrdinarySession(row.session) &&
    row.shadowOf === null
  );
}

function isOrdinarySession(session: RequestStarted['session']): boolean {
  if (session === null) return true;
  return isName(session.id) && isName(session.name) && isName(session.thread) && session.tools.every(isOrdinaryTool);
}

const isOrdinaryTool = ({ name, bytes }: { name: string | null; bytes: number }) => isName(name) && isInteger(bytes);

function isOrdinaryReserve({ reserved }: BegunRow): boolean {
  return !reserved || (isOrdinaryUsage(reserved.usage) && isAtMost(reserved.costUsd, maxAmount));
}

function isOrdinaryEnd(row: EndedRow): boolean {
  return (
    isInteger(row.status) &&
    isName(row.errorCode) &&
    isName(row.modelServed) &&
    isName(row.provider) &&
    isName(row.credential) &&
    isAtMost(row.queueMs, maxMs) &&
    isAtMost(row.connectMs, maxMs) &&
    isAtMost(row.firstByteMs, maxMs) &&
    isAtMost(row.totalMs, maxMs) &&
    isInteger(row.bytesIn) &&
    isInteger(row.bytesOut) &&
    isOrdinaryUsage(row.usage) &&
    isAtMost(row.costUsd, maxAmount) &&
    isName(row.client) &&
    isInteger(row.clientRetries) &&
    isName(row.fault) &&
    row.cached === null &&
    row.attempts.every(isOrdinaryAttempt) &&
    row.dropped.every(isOrdinaryLoss) &&
    row.emulated.every(isOrdinaryLoss)
  );
}

function isOrdinaryAttempt(attempt: AttemptRecord): boolean {
  return (
    isName(attempt.provider) &&
    isName(attempt.credential) &&
    isName(attempt.model) &&
    isAtMost(attempt.startedAt, maxTimeMs) &&
    isAtMost(attempt.connectMs, maxMs) &&
    isAtMost(attempt.firstByteMs, maxMs) &&
    isAtMost(attempt.firstContentMs, maxMs) &&
    isAtMost(attempt.longestGapMs, maxMs) &&
    isAtMost(attempt.totalMs, maxMs) &&
    isInteger(attempt.status) &&
    isText(attempt.error, maxErrorLength) &&
    isInteger(attempt.droppedEvents) &&
    isName(attempt.upstreamRequestId) &&
    isOrdinaryUsage(attempt.usage) &&
    isAtMost(attempt.costUsd, maxAmount)
  );
}

const isOrdinaryLoss = ({ field, times }: LossNote) => isName(field) && isInteger(times);

function isOrdinaryUsage(usage: Usage | null): boolean {
  if (usage === null) return true;
  for (const name in usage) {
    const amount = usage[name as keyof Usage] ?? Number.NaN;
    if (!(amount <= maxAmount && isInteger(amount))) return false;
  }
  return true;
}

const isAtMost = (value: number | null, most: number) => value === null || (value >= 0 && value <= most);

// Larger ones, such as the bytes of a long film, may be storable too.
const isInteger = (value: number | null) =>
  value === null || (value >= 0 && value <= maxInteger && (value | 0) === value);

const isName = (value: string | null | undefined) => isText(value, maxNameLength);

/** Most texts are so short that a loop is faster than two calls of the library. */
function isText(value: string | null | undefined, maxLength: number): boolean {
  if (value === null || value === undefined) return true;
  if (value.length > maxLength) return false;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit === 0 || (unit & 0xf800) === 0xd800) return false;
  }
  return true;
}
