/**
 * Polls background responses that no client has fetched since they ended, so that they are billed, and releases the
 * reservations of those that other replicas have billed.
 */

import type { MaybePromise } from '../../ground/promises.ts';
import { every, settleWithin } from '../../ground/timers.ts';
import { isPathSegment } from '../../providers/path-segment.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { JobStore } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import { type CollectedResponse, readResponse } from '../../transport/read-response.ts';
import type { Transport } from '../../transport/transport.ts';
import { ResponseExcerpt } from '../record/response-taps.ts';
import { type JobBilling, jobLifeMs, nameOf } from './job-billing.ts';

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
