import { captureCauses } from '../../contract/capture.ts';
import { isError } from '../../contract/condition.ts';
import { unpriced } from '../../contract/count.ts';
import type { RequestOutcome, RequestSession, ToolResult, Usage, UsageCertainty } from '../../contract/ledger.ts';
import type { SessionRequestFacts } from '../../contract/session-views.ts';
import { json, number, type Row, text } from './columns.ts';
import { asNumber, rowSql, type SqlNotation } from './condition-sql.ts';

/** The fields of a request that are needed to show its session. */
export interface ReadRequest extends SessionRequestFacts {
  usage: Usage | null;
  usageCertainty: UsageCertainty;
  costUsd: number | null;
  /** As in usage. */
  isFailed: boolean;
  isUnpriced: boolean;
  thread: string | null;
  step: RequestSession['step'];
  tools: readonly ToolResult[];
  isCaptured: boolean;
}

/** A single attempt that went well is not stored: see `rows.ts`. */
export const requestColumns = (notation: SqlNotation) =>
  'seq, id, started_at, outcome, status, error_code, model_asked, model_served, provider, total_ms, first_byte_ms, ' +
  'client_retries, usage, usage_certainty, cost_usd, thread, step, tools, captured, fault, ' +
  `${asNumber(rowSql(unpriced, notation))} AS unpriced, ` +
  'CASE WHEN attempts IS NOT NULL THEN json_array_length(attempts) WHEN provider IS NULL THEN 0 ELSE 1 END AS attempt_count';

/**
 * While a request runs, its usage columns hold the reservation, which is not shown.
 *
 * @param inMemory ids of requests whose capture is in memory
 */
export function readRequest(row: Row, inMemory?: ReadonlySet<string>): ReadRequest {
  const outcome = text(row.outcome) as RequestOutcome | null;
  const hasEnded = outcome !== null;
  const provider = text(row.provider);
  const costUsd = hasEnded ? number(row.cost_usd) : null;
  const id = text(row.id) ?? '';
  return {
    id,
    startedAt: number(row.started_at) ?? 0,
    outcome,
    status: number(row.status),
    errorCode: text(row.error_code),
    modelAsked: text(row.model_asked),
    modelServed: text(row.model_served),
    provider,
    totalMs: number(row.total_ms),
    firstByteMs: number(row.first_byte_ms),
    attempts: number(row.attempt_count) ?? 0,
    clientRetries: number(row.client_retries) ?? 0,
    usage: hasEnded ? json<Usage | null>(row.usage, null) : null,
    usageCertainty: (hasEnded ? (text(row.usage_certainty) as UsageCertainty | null) : null) ?? 'none',
    costUsd,
    isFailed: isError({ outcome, status: number(row.status), provider, fault: text(row.fault) }),
    isUnpriced: hasEnded && row.unpriced === 1,
    thread: text(row.thread),
    step: row.step === 'prompt' || row.step === 'tools' ? row.step : null,
    tools: json<ToolResult[]>(row.tools, []),
    isCaptured: captureCauses.some((cause) => cause === row.captured) || inMemory?.has(id) === true,
  };
}
