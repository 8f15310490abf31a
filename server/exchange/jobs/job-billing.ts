/**
 * Bills background responses. They continue after the request that created them and report their usage to a later
 * request. Until then the amount reserved by the creating request stays reserved; then the usage is booked once, to the
 * key that created the job. The job's row stores what is still owed, and it is deleted in the same transaction that
 * writes the usage.
 */

import type { UsageFormat } from '../../apis/core/wire.ts';
import { ownClient, type RequestRecord, type Reserved } from '../../contract/ledger.ts';
import { dayMs } from '../../contract/units.ts';
import type { JobOwner, Limiter } from '../../limits/limiter.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { JobStore } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import type { BookedJob } from '../../store/rules/rows.ts';
import type { Accounting } from '../../usage/add-up.ts';
import { amountsOf } from '../plan/enforce-limits.ts';
import { isRunningStatus } from '../record/accounting.ts';
import { createRequestId, type SessionMark } from '../record/exchange-trace.ts';
import type { ResponseExcerpt } from '../record/response-taps.ts';
import { noteSize } from './object-ownership.ts';

/** How long a job keeps its reservation and is polled. */
export const jobLifeMs = dayMs;

interface JobBillingPorts {
  jobs: JobStore;
  limiter: Limiter;
  prices: PriceTable;
  /** How the response that creates a job of this kind reports its usage. */
  usageOf(kind: Job['kind']): UsageFormat | null;
  finished(record: RequestRecord, books?: BookedJob): void;
}

/** A provider's response about a job. */
interface JobResponse {
  tail: Pick<ResponseExcerpt, 'kept'>;
  contentType: string;
}

/** The usage of a job that has ended. */
export interface Booking {
  job: Job;
  accounting: Accounting;
  /** The id of the session that made the job; null if none did. */
  session: string | null;
  books: BookedJob;
}

const endedStatuses = new Set<string | null>(['completed', 'failed', 'incomplete', 'cancelled']);

export class JobBilling {
  readonly #ports: JobBillingPorts;
  /** By name: the jobs whose reservations are counted here. */
  readonly #heldJobs = new Map<string, Job>();
  /** By name of the job: the requests that made those of this run. One may be found to belong to a session only later. */
  readonly #makers = new Map<string, SessionMark>();

  constructor(ports: JobBillingPorts) {
    this.#ports = ports;
  }

  /** The job goes on after the request that created it, which has yet to be recorded. */
  owe(job: Job, reserved: Reserved | null, maker: SessionMark | null): void {
    const session = maker?.session?.id;
    const owed = reserved ?? { usage: {}, costUsd: null };
    const owingJob = { ...job, owed, ...(session !== undefined && { session }) };
    if (maker) this.#makers.set(nameOf(job), maker);
    this.#ports.jobs.remember(owingJob, { durable: true });
    this.hold(owingJob);
  }

  /** Restores the reservation; also used at startup for jobs of an earlier run. */
  hold(job: Job): void {
    if (!job.owed) return;
    this.#heldJobs.set(nameOf(job), job);
    this.#ports.limiter.hold(nameOf(job), ownerOf(job), amountsOf(job.owed));
  }

  get heldJobs(): readonly Job[] {
    return [...this.#heldJobs.values()];
  }

  release(job: Job): void {
    this.#heldJobs.delete(nameOf(job));
    this.#makers.delete(nameOf(job));
    this.#ports.limiter.release(nameOf(job), ownerOf(job));
  }

  /** What a response about a job is booked as, if it is the first one that shows how the job ended; else null. */
  settle(job: Job, response: JobResponse): Booking | null {
    const accounting = this.#read(job, response);
    const settledJob = accounting && this.#ports.jobs.settle(job);
    if (!settledJob) return null;
    noteSize(this.#ports.jobs, job, accounting);
    return this.#booking(settledJob, accounting);
  }

  /** The client deleted the job, so that its usage will never be reported: the reserved amount is booked. */
  settleDeleted(job: Job): Booking | null {
    const { usage, costUsd } = job.owed ?? { usage: {}, costUsd: null };
    const isKnown = Object.keys(usage).length > 0;
    return isKnown ? this.#booking(job, { usage, usageCertainty: 'reserved', costUsd }) : null;
  }

  /** Writes a row for the usage, if no request of the key and the session that made the job can have it. */
  book({ job, accounting, session, books }: Booking): void {
    this.#ports.finished({ ...ownRecord(job, session), ...accounting }, books);
    this.release(job);
  }

  #booking(job: Job, accounting: Accounting): Booking {
    const session = this.#makers.get(nameOf(job))?.session?.id ?? job.session ?? null;
    return { job, accounting, session, books: { kind: job.kind, groupId: job.groupId, id: job.id } };
  }

  #read({ kind, owed, providerId, model }: Job, { tail, contentType }: JobResponse): Accounting | null {
    const format = this.#ports.usageOf(kind);
    if (!format) return null;
    const answer = tail.kept(contentType);
    const most = { inputTokens: maxInputTokens, outputTokens: answer.bytes + maxHiddenTokens, seconds: 0 };
    const { usage, certainty, status } = format.read(answer, { most });
    if (isRunningStatus(status) || (usage === null && !endedStatuses.has(status))) return null;
    const costOfUsage = (countedUsage: Accounting['usage']) =>
      model === null ? null : this.#ports.prices.cost(providerId, model, countedUsage);
    if (usage !== null) return { usage, usageCertainty: certainty, costUsd: costOfUsage(usage) };
    if (status === 'failed') return { usage: null, usageCertainty: 'none', costUsd: 0 };
    const outputTokens = format.text?.ofAnswer(answer) ?? null;
    const inputTokens = owed?.usage.inputTokens;
    const guess = { ...(inputTokens !== undefined && { inputTokens }), ...(outputTokens !== null && { outputTokens }) };
    return { usage: guess, usageCertainty: 'estimated', costUsd: costOfUsage(guess) };
  }
}

/** Upper bound for request bodies and what they refer to. */
const maxInputTokens = 100_000_000;
/** Upper bound for reasoning that is not reported. */
const maxHiddenTokens = 1_000_000;

/** Unlike the id alone, no other job has it. */
export const nameOf = ({ kind, groupId, id }: Job) => `${kind} ${groupId} ${id}`;
const ownerOf = ({ keyId, groupId }: Job): JobOwner => ({ keyId, groupId });

/** For usage that Sluice learnt from its own polling, or from a request of another key or session. */
function ownRecord(
  { keyId, groupId, providerId, credentialId, model }: Job,
  session: string | null,
): Omit<RequestRecord, keyof Accounting> {
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
    session: session === null ? null : { id: session, name: null, thread: null, step: null, tools: [] },
    shadowOf: null,
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
    client: ownClient,
    clientRetries: 0,
    dropped: [],
    emulated: [],
    captured: null,
    cached: null,
    fault: null,
    cassette: null,
    sameAnswer: null,
  };
}
