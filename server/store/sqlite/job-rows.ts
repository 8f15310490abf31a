/** Converts jobs to rows of the table `jobs` and back. */
import type { Reserved } from '../../contract/ledger.ts';
import { type Job, jobKinds } from '../ports/job-store.ts';
import { json, number, type Row, type SqlValue, text } from '../rules/columns.ts';

/** A job with the time of its last use, which is updated once a day at most. */
export interface KeptJob {
  job: Job;
  /** Unix milliseconds. */
  lastUsedAt: number;
}

export const insertJobSql = `INSERT OR REPLACE INTO jobs
  (kind, group_id, id, provider_id, credential_id, model, key_id, created_at, last_used_at, upstream_id,
   owed, input_tokens, session)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** In the order of `insertJobSql`. */
export const toValues = ({ job, lastUsedAt }: KeptJob): SqlValue[] => [
  job.kind,
  job.groupId,
  job.id,
  job.providerId,
  job.credentialId,
  job.model,
  job.keyId,
  job.createdAt,
  lastUsedAt,
  job.upstreamId ?? null,
  job.owed ? JSON.stringify(job.owed) : null,
  job.inputTokens ?? null,
  job.session ?? null,
];

export function toKept(row: Row | undefined): KeptJob | undefined {
  if (row === undefined) return undefined;
  const upstreamId = text(row.upstream_id);
  const inputTokens = number(row.input_tokens);
  const session = text(row.session);
  const owed = json<Reserved | null>(row.owed, null);
  const job: Job = {
    kind: jobKinds.find((kind) => kind === row.kind) ?? 'response',
    id: text(row.id) ?? '',
    groupId: text(row.group_id) ?? '',
    providerId: text(row.provider_id) ?? '',
    credentialId: text(row.credential_id),
    model: text(row.model),
    keyId: text(row.key_id),
    createdAt: number(row.created_at) ?? 0,
    ...(upstreamId !== null && { upstreamId }),
    ...(inputTokens !== null && { inputTokens }),
    ...(session !== null && { session }),
    ...(owed !== null && { owed }),
  };
  return { job, lastUsedAt: number(row.last_used_at) ?? 0 };
}
