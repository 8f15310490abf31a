import type { Limited } from '../../contract/limits.ts';
import { type LimitSubject, LimitSubjectMap } from '../../limits/limiter.ts';
import { CountedSubject } from './counted-subject.ts';

/** Keys and groups with limits that this replica has served, and the reservations of jobs. */
export class SubjectRegistry {
  readonly #subjects = new LimitSubjectMap<CountedSubject>();
  /** Leases by subject and job; the subject need not exist yet. */
  readonly #jobLeases = new LimitSubjectMap<Map<string, string>>();

  /** Created on first use, and recreated when its limits have changed. */
  of(limited: Limited): CountedSubject {
    const existing = this.#subjects.get(limited);
    if (existing?.isOf(limited)) return existing;
    const subject = new CountedSubject(limited, existing);
    for (const [job, lease] of this.#jobLeases.get(limited) ?? []) {
      subject.leases.set(job, lease);
      subject.hasUnsentLeases = true;
    }
    this.#subjects.set(limited, subject);
    return subject;
  }

  /** Undefined if this replica has not served it. */
  get(limitSubject: LimitSubject): CountedSubject | undefined {
    return this.#subjects.get(limitSubject);
  }

  /** The subjects for which jobs hold a reservation. */
  *holding(): IterableIterator<CountedSubject> {
    for (const limitSubject of this.#jobLeases.subjects()) {
      const subject = this.#subjects.get(limitSubject);
      if (subject) yield subject;
    }
  }

  all(): IterableIterator<CountedSubject> {
    return this.#subjects.values();
  }

  remove(limitSubject: LimitSubject): CountedSubject | undefined {
    const subject = this.#subjects.get(limitSubject);
    this.#subjects.delete(limitSubject);
    return subject;
  }

  /** Returns the subject if it is known. */
  hold(limitSubject: LimitSubject, job: string, lease: string): CountedSubject | undefined {
    const leases = this.#jobLeases.get(limitSubject) ?? new Map<string, string>();
    this.#jobLeases.set(limitSubject, leases.set(job, lease));
    const subject = this.#subjects.get(limitSubject);
    subject?.leases.set(job, lease);
    return subject;
  }

  release(limitSubject: LimitSubject, job: string): CountedSubject | undefined {
    const leases = this.#jobLeases.get(limitSubject);
    leases?.delete(job);
    if (leases?.size === 0) this.#jobLeases.delete(limitSubject);
    const subject = this.#subjects.get(limitSubject);
    subject?.leases.delete(job);
    return subject;
  }
}
