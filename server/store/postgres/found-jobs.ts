import type { Job, JobKind } from '../../jobs/job.ts';
import type { KeptJob } from '../../jobs/job-rows.ts';
import type { KnownJobs } from '../../jobs/job-store.ts';

export const placeOf = ({ kind, groupId, id }: Pick<Job, 'kind' | 'groupId' | 'id'>) => `${kind}\n${groupId}\n${id}`;

/** Jobs of any group, found by a look-up. */
export class FoundJobs implements KnownJobs {
  readonly #kept: readonly KeptJob[];
  readonly #used: (kept: KeptJob) => void;

  /** `used` is called for each job that is returned. */
  constructor(kept: readonly KeptJob[], used: (kept: KeptJob) => void) {
    this.#kept = kept;
    this.#used = used;
  }

  find(kind: JobKind, id: string, groupId: string): Job | undefined {
    return this.#use(this.#kept.find(({ job }) => job.kind === kind && job.id === id && job.groupId === groupId));
  }

  findAny(id: string, groupId: string): Job | 'foreign' | undefined {
    const own = this.#kept.find(({ job }) => job.id === id && job.groupId === groupId);
    if (own) return this.#use(own);
    return this.#kept.some(({ job }) => job.id === id) ? 'foreign' : undefined;
  }

  #use(kept: KeptJob | undefined): Job | undefined {
    if (kept) this.#used(kept);
    return kept?.job;
  }
}
