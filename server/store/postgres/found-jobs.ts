import type { KnownJobs } from '../ports/job-store.ts';
import type { Job, JobKind } from '../rules/job.ts';
import type { KeptJob } from '../sqlite/job-rows.ts';

export const keyOf = ({ kind, groupId, id }: Pick<Job, 'kind' | 'groupId' | 'id'>) => `${kind}\n${groupId}\n${id}`;

/** Jobs of any group, found by a look-up. */
export class FoundJobs implements KnownJobs {
  readonly #jobs: readonly KeptJob[];
  readonly #onUse: (keptJob: KeptJob) => void;

  /** `onUse` is called for each job that is returned. */
  constructor(jobs: readonly KeptJob[], onUse: (keptJob: KeptJob) => void) {
    this.#jobs = jobs;
    this.#onUse = onUse;
  }

  find(kind: JobKind, id: string, groupId: string): Job | undefined {
    return this.#use(this.#jobs.find(({ job }) => job.kind === kind && job.id === id && job.groupId === groupId));
  }

  findAny(id: string, groupId: string): Job | 'foreign' | undefined {
    const own = this.#jobs.find(({ job }) => job.id === id && job.groupId === groupId);
    if (own) return this.#use(own);
    return this.#jobs.some(({ job }) => job.id === id) ? 'foreign' : undefined;
  }

  #use(keptJob: KeptJob | undefined): Job | undefined {
    if (keptJob) this.#onUse(keptJob);
    return keptJob?.job;
  }
}
