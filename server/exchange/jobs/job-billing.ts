/**
 * Bills background responses. They continue after the request that created them and report their usage to a later
 * request. Until then the amount reserved by the creating request stays reserved; then the usage is booked once, to the
 * key that created the job. The job's row stores what is still owed, and it is deleted in the same transaction that
 * writes the usage.
 */

import { isPathSegment } from '../../apis/core/requests/segments.ts';
import type { UsageFormat } from '../../apis/core/wire.ts';
import { ownClient, type RequestRecord, type Reserved } from '../../contract/ledger.ts';
import { dayMs } from '../../contract/units.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { every, settleWithin } from '../../ground/timers.ts';
import type { JobOwner, Limiter } from '../../limits/limiter.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { Job, JobStore } from '../../store/ports/kept-stores.ts';
import type { BookedJob } from '../../store/rules/rows.ts';
import { type CollectedResponse, readResponse } from '../../transport/fetch.ts';
import type { Transport } from '../../transport/transport.ts';
import { amountsOf } from '../plan/plan.ts';
import { isRunningStatus } from '../record/accounting.ts';
import { type Accounting, createRequestId, type SessionMark } from '../record/exchange-trace.ts';
import { ResponseExcerpt } from '../record/response-taps.ts';
import { noteSize } from './object-ownership.ts';

/** How long a job keeps its reservation and is polled. */
const jobLifeMs = dayMs;

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
const nameOf = ({ kind, groupId, id }: Job) => `${kind} ${groupId} ${id}`;
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

interface JobPollerPorts {
  jobs: Pick<JobStore, 'owing'>;
  bills: Pick<JobBilling, 'hold' | 'heldJobs' | 'release' | 'settle' | 'book'>;
  transport: Transport;
  snapshot(): Snapshot;
  now?: () => number;
}

const tickMs = 10_000;
const shortestPauseMs = 60_000;
/** Upper bound of the polling interval, which grows with the job's age. */
const longestPauseMs = 15 * 60_000;
const concurrency = 8;
/** A database may hang, and rows have yet to be written. */
const stopMs = 1_000;

/**
 * Polls background responses that no client has fetched since they ended, so that they are billed, and releases the
 * reservations of those that other replicas have billed.
 */
export class JobPoller {
  readonly #ports: JobPollerPorts;
  readonly #now: () => number;
  readonly #timer = every(() => this.poll(), tickMs).unref();
  /** Time of the latest poll, by job id. */
  #lastPolls = new Map<string, number>();
  #isPolling = false;

  constructor(ports: JobPollerPorts) {
    this.#ports = ports;
    this.#now = ports.now ?? Date.now;
    const owingJobs = this.#owing();
    if (owingJobs instanceof Promise) void owingJobs.then((jobs) => this.#hold(jobs));
    else this.#hold(owingJobs);
  }

  #hold(owingJobs: readonly Job[] | null): void {
    if (owingJobs === null) return;
    for (const job of owingJobs) if (this.#isAlive(job)) this.#ports.bills.hold(job);
  }

  /** Never rejects. */
  async poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    await this.#pollDue((await this.#releaseBilled()) ?? []);
    this.#isPolling = false;
  }

  /** Ends the reservations of jobs that other replicas have billed. Resolves with all that owe; null if the database cannot be read. */
  async #releaseBilled(): Promise<readonly Job[] | null> {
    const { bills } = this.#ports;
    // Jobs that are reserved after this read would be missing in its result.
    const { heldJobs } = bills;
    const owingJobs = await this.#owing();
    if (owingJobs === null) return null;
    const names = new Set(owingJobs.map(nameOf));
    for (const job of heldJobs) if (!names.has(nameOf(job))) bills.release(job);
    return owingJobs;
  }

  async #pollDue(owingJobs: readonly Job[]): Promise<void> {
    for (const job of owingJobs) if (!this.#isAlive(job)) this.#ports.bills.release(job);
    const dueJobs = owingJobs.filter((job) => this.#isAlive(job) && this.#isDue(job));
    this.#lastPolls = new Map(owingJobs.flatMap(({ id }) => [[id, this.#lastPolls.get(id) ?? 0] as const]));
    for (let start = 0; start < dueJobs.length; start += concurrency) {
      await Promise.all(dueJobs.slice(start, start + concurrency).map((job) => this.#pollJob(job)));
    }
  }

  /** A reservation left for a billed job would count as spent once this replica is gone. Never rejects. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#ports.bills.heldJobs.length > 0) await settleWithin(stopMs, this.#releaseBilled());
  }

  /** Null if the database cannot be read. */
  #owing(): MaybePromise<Job[] | null> {
    try {
      const owingJobs = this.#ports.jobs.owing();
      return owingJobs instanceof Promise ? owingJobs.catch(() => null) : owingJobs;
    } catch {
      return null;
    }
  }

  #isAlive({ createdAt }: Job): boolean {
    return this.#now() - createdAt < jobLifeMs;
  }

  #isDue({ id, createdAt }: Job): boolean {
    const now = this.#now();
    const pauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, (now - createdAt) / 4));
    return now - Math.max(createdAt, this.#lastPolls.get(id) ?? 0) >= pauseMs;
  }

  async #pollJob(job: Job): Promise<void> {
    const { transport, snapshot, bills } = this.#ports;
    this.#lastPolls.set(job.id, this.#now());
    try {
      const response = await fetchJob(transport, snapshot(), job);
      if (response?.status !== 200) return;
      const tail = new ResponseExcerpt();
      tail.push(response.body);
      const booking = bills.settle(job, { tail, contentType: 'application/json' });
      if (booking) bills.book(booking);
    } catch {
      // Polled again later.
    }
  }
}

const pathOf = { video: '/videos/', character: null, response: '/responses/', object: null } as const;

/**
 * Fetches the current state of a job from the provider that owns it, with the credential that created it, or the first one if
 * that was removed. Returns null if the provider cannot be used now. Rejects with a TransportError.
 */
function fetchJob(transport: Transport, snapshot: Snapshot, job: Job): Promise<CollectedResponse> | null {
  const provider = snapshot.providers.get(job.providerId);
  const folder = pathOf[job.kind];
  if (!provider || provider.unusable || !folder || !isPathSegment(job.upstreamId ?? job.id)) return null;
  const credential =
    provider.credentials.find((candidate) => candidate.id === job.credentialId) ?? provider.credentials[0];
  const { endpoint } = provider;
  const request = {
    origin: endpoint.origin,
    method: 'GET',
    path: provider.dialect.address(endpoint, folder + encodeURIComponent(job.upstreamId ?? job.id), '', null),
    headers: { accept: 'application/json', ...provider.headers, ...credential?.headers },
    body: null,
    timeouts: provider.timeouts,
    proxy: provider.proxy,
    certificate: provider.certificate,
  };
  return readResponse(transport, request, maxAnswerBytes);
}

/** A response may contain images. */
const maxAnswerBytes = 32 * 1024 * 1024;
