/**
 * Responses in the background go on after the request that made them, and tell their usage to whoever asks for them later.
 * Until then what their request had reserved stays reserved; then they are booked once, to the key that made them. That a
 * job is still to be booked stands in its row, and is deleted in the same transaction as its usage is written.
 */
import type { AttemptRecord, RequestRecord, Reserved } from '../contract/ledger.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { BookedJob } from '../ledger/rows.ts';
import type { JobOwner, Limiter } from '../limits/limiter.ts';
import type { Accounting } from '../usage/add-up.ts';
import type { PriceTable } from '../usage/price-table.ts';
import type { UsageFormat } from '../wire/wire.ts';
import { createRequestId } from './exchange-trace.ts';
import { amountsOf } from './hold-to-limits.ts';
import type { Tail } from './tail.ts';

/** For so long a job holds what was reserved for it, and is asked for how it is. */
export const jobLifeMs = 24 * 3_600_000;

interface JobBillsPorts {
  jobs: JobStore;
  limiter: Limiter;
  prices: PriceTable;
  /** How what made jobs of that kind tells its usage. */
  usageOf(kind: Job['kind']): UsageFormat | null;
  finished(record: RequestRecord, books?: BookedJob): void;
}

/** What a provider answered about a job. */
interface JobReply {
  tail: Pick<Tail, 'bytes' | 'head' | 'totalBytes'>;
  contentType: string;
}

type Told = Pick<AttemptRecord, 'usage' | 'usageCertainty' | 'costUsd'>;

const ongoing = new Set<string | null>(['queued', 'in_progress']);
const ended = new Set<string | null>(['completed', 'failed', 'incomplete', 'cancelled']);

export const isOngoing = (status: string | null) => ongoing.has(status);

export class JobBills {
  readonly #ports: JobBillsPorts;

  constructor(ports: JobBillsPorts) {
    this.#ports = ports;
  }

  /** To be called before the request that made it has `finished`. */
  owe(job: Job, reserved: Reserved | null): void {
    const owing = { ...job, owed: reserved ?? { usage: {}, costUsd: null } };
    this.#ports.jobs.remember(owing, { durable: true });
    this.hold(owing);
  }

  /** Also after a start, of those that an earlier run left. */
  hold(job: Job): void {
    if (job.owed) this.#ports.limiter.hold(nameOf(job), ownerOf(job), amountsOf(job.owed));
  }

  release(job: Job): void {
    this.#ports.limiter.release(nameOf(job), ownerOf(job));
  }

  /** Books what a reply about a job tells, if it is the first that tells how the job ended. */
  book(job: Job, reply: JobReply, request: RequestRecord | null): void {
    const told = this.#read(job, reply);
    const settled = told && this.#ports.jobs.settle(job);
    this.#write(settled ? { job: settled, told } : null, request);
  }

  /** Its client had it deleted, so it will tell nothing: it counts as much as was reserved. */
  bookDeleted(job: Job, request: RequestRecord): void {
    const { usage, costUsd } = job.owed ?? { usage: {}, costUsd: null };
    const isKnown = Object.keys(usage).length > 0;
    this.#write(isKnown ? { job, told: { usage, usageCertainty: 'estimated', costUsd } } : null, request);
    this.release(job);
  }

  /** A request of the key that made the job bears its usage; else the job has a row of its own. */
  #write(booked: { job: Job; told: Told } | null, request: RequestRecord | null): void {
    const { finished } = this.#ports;
    if (booked === null) {
      if (request) finished(request);
      return;
    }
    const { job, told } = booked;
    const books = { kind: job.kind, groupId: job.groupId, id: job.id };
    if (request && request.keyId === job.keyId) finished(withUsage(request, told), books);
    else {
      if (request) finished(request);
      finished({ ...ownRecord(job), ...told }, books);
    }
    this.release(job);
  }

  #read({ kind, owed, providerId, model }: Job, { tail, contentType }: JobReply): Told | null {
    const format = this.#ports.usageOf(kind);
    if (!format) return null;
    const answer = { tail: tail.bytes, head: tail.head, bytes: tail.totalBytes, contentType };
    const most = { inputTokens: mostInputTokens, outputTokens: answer.bytes + mostHiddenTokens, seconds: 0 };
    const { usage, certainty, status } = format.read(answer, { most });
    if (ongoing.has(status) || (usage === null && !ended.has(status))) return null;
    const priced = (counted: Told['usage']) =>
      model === null ? null : this.#ports.prices.cost(providerId, model, counted);
    if (usage !== null) return { usage, usageCertainty: certainty, costUsd: priced(usage) };
    if (status === 'failed') return { usage: null, usageCertainty: 'none', costUsd: 0 };
    const outputTokens = format.text?.ofAnswer(answer) ?? null;
    const inputTokens = owed?.usage.inputTokens;
    const guess = { ...(inputTokens !== undefined && { inputTokens }), ...(outputTokens !== null && { outputTokens }) };
    return { usage: guess, usageCertainty: 'estimated', costUsd: priced(guess) };
  }
}

/** Bodies of requests, and what they refer to. */
const mostInputTokens = 100_000_000;
/** Reasoning that is not told. */
const mostHiddenTokens = 1_000_000;

const nameOf = ({ kind, groupId, id }: Job) => `${kind} ${groupId} ${id}`;
const ownerOf = ({ keyId, groupId }: Job): JobOwner => ({ keyId, groupId });

/** The attempt that told it is the last: nobody else is asked about a job. */
function withUsage(record: RequestRecord, told: Accounting): RequestRecord {
  const last = record.attempts.at(-1);
  const attempts = last ? record.attempts.with(-1, { ...last, ...told }) : [];
  return { ...record, ...told, attempts };
}

/** Of what Sluice learnt by asking itself, or by the request of another key. */
function ownRecord({ keyId, groupId, providerId, credentialId, model }: Job): Omit<RequestRecord, keyof Told> {
  return {
    id: createRequestId(),
    startedAt: Date.now(),
    keyId,
    groupId,
    route: '/v1/responses/{id}',
    method: 'GET',
    capability: 'responses',
    modelAsked: model,
    stream: false,
    outcome: 'ok',
    status: 200,
    errorCode: null,
    modelServed: model,
    provider: providerId,
    credential: credentialId,
    queueMs: null,
    connectMs: null,
    firstByteMs: null,
    totalMs: 0,
    bytesIn: 0,
    bytesOut: 0,
    attempts: [],
    client: 'Sluice',
    clientRetries: 0,
  };
}
