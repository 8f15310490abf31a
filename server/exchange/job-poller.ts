/**
 * Polls background responses that no client has fetched since they ended, so that they are billed, and releases the
 * reservations of those that other replicas have billed.
 */
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import type { Transport } from '../transport/transport.ts';
import { fetchJob } from './fetch-job.ts';
import { type JobBilling, jobLifeMs, nameOf } from './job-billing.ts';
import { ResponseExcerpt } from './response-excerpt.ts';

interface JobPollerPorts {
  jobs: Pick<JobStore, 'owing'>;
  bills: Pick<JobBilling, 'hold' | 'held' | 'release' | 'book'>;
  transport: Transport;
  snapshot(): Snapshot;
  now?: () => number;
}

const tickMs = 10_000;
const shortestPauseMs = 60_000;
/** Upper bound of the polling interval, which grows with the job's age. */
const longestPauseMs = 15 * 60_000;
const concurrency = 8;

export class JobPoller {
  readonly #ports: JobPollerPorts;
  readonly #now: () => number;
  readonly #timer = setInterval(() => void this.look(), tickMs).unref();
  /** Time of the latest poll, by job id. */
  #asked = new Map<string, number>();
  #isLooking = false;

  constructor(ports: JobPollerPorts) {
    this.#ports = ports;
    this.#now = ports.now ?? Date.now;
    const owing = this.#owing();
    if (owing instanceof Promise) void owing.then((jobs) => this.#hold(jobs));
    else this.#hold(owing);
  }

  #hold(owing: readonly Job[] | null): void {
    if (owing === null) return;
    for (const job of owing) if (this.#isAlive(job)) this.#ports.bills.hold(job);
  }

  /** Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await this.#lookAt((await this.#releaseBilled()) ?? []);
    this.#isLooking = false;
  }

  /** Ends the reservations of jobs that other replicas have billed. Resolves with all that owe; null if the database cannot be read. */
  async #releaseBilled(): Promise<readonly Job[] | null> {
    const { bills } = this.#ports;
    // Jobs that are reserved after this read would be missing in its result.
    const { held } = bills;
    const owing = await this.#owing();
    if (owing === null) return null;
    const names = new Set(owing.map(nameOf));
    for (const job of held) if (!names.has(nameOf(job))) bills.release(job);
    return owing;
  }

  async #lookAt(owing: readonly Job[]): Promise<void> {
    for (const job of owing) if (!this.#isAlive(job)) this.#ports.bills.release(job);
    const due = owing.filter((job) => this.#isAlive(job) && this.#isDue(job));
    this.#asked = new Map(owing.flatMap(({ id }) => [[id, this.#asked.get(id) ?? 0] as const]));
    for (let start = 0; start < due.length; start += concurrency) {
      await Promise.all(due.slice(start, start + concurrency).map((job) => this.#ask(job)));
    }
  }

  /** A reservation left for a billed job would count as spent once this replica is gone. Never rejects. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#releaseBilled();
  }

  /** Null if the database cannot be read. */
  #owing(): MaybePromise<Job[] | null> {
    try {
      const owing = this.#ports.jobs.owing();
      return owing instanceof Promise ? owing.catch(() => null) : owing;
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
    return now - Math.max(createdAt, this.#asked.get(id) ?? 0) >= pauseMs;
  }

  async #ask(job: Job): Promise<void> {
    const { transport, snapshot, bills } = this.#ports;
    this.#asked.set(job.id, this.#now());
    try {
      const response = await fetchJob(transport, snapshot(), job);
      if (response?.status !== 200) return;
      const tail = new ResponseExcerpt();
      tail.push(response.body);
      bills.book(job, { tail, contentType: 'application/json' }, null);
    } catch {
      // Polled again later.
    }
  }
}
