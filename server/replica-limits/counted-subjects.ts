import type { Limited } from '../contract/limits.ts';
import { type LimitSubject, LimitSubjectMap } from '../limits/limit-subjects.ts';
import { CountedSubject } from './counted-subject.ts';

/** Keys and groups with limits that this replica has served, and the reservations of jobs. */
export class CountedSubjects {
  readonly #subjects = new LimitSubjectMap<CountedSubject>();
  /** Leases by subject and job; the subject need not exist yet. */
  readonly #held = new LimitSubjectMap<Map<string, string>>();

  /** Created on first use, and recreated when its limits have changed. */
  of(limited: Limited): CountedSubject {
    const known = this.#subjects.get(limited);
    if (known?.isOf(limited)) return known;
    const subject = new CountedSubject(limited, known);
    for (const [job, lease] of this.#held.get(limited) ?? []) subject.leases.set(job, lease);
    this.#subjects.set(limited, subject);
    return subject;
  }

  /** Undefined if this replica has not served it. */
  get(named: LimitSubject): CountedSubject | undefined {
    return this.#subjects.get(named);
  }

  /** The subjects for which jobs hold a reservation. */
  *holding(): IterableIterator<CountedSubject> {
    for (const named of this.#held.subjects()) {
      const subject = this.#subjects.get(named);
      if (subject) yield subject;
    }
  }

  all(): IterableIterator<CountedSubject> {
    return this.#subjects.values();
  }

  remove(named: LimitSubject): CountedSubject | undefined {
    const subject = this.#subjects.get(named);
    this.#subjects.delete(named);
    return subject;
  }

  /** Returns the subject if it is known. */
  hold(named: LimitSubject, job: string, lease: string): CountedSubject | undefined {
    const held = this.#held.get(named) ?? new Map<string, string>();
    this.#held.set(named, held.set(job, lease));
    const subject = this.#subjects.get(named);
    subject?.leases.set(job, lease);
    return subject;
  }

  release(named: LimitSubject, job: string): CountedSubject | undefined {
    const held = this.#held.get(named);
    held?.delete(job);
    if (held?.size === 0) this.#held.delete(named);
    const subject = this.#subjects.get(named);
    subject?.leases.delete(job);
    return subject;
  }
}
