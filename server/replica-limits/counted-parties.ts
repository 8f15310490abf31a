import type { Limited, LimitScope } from '../contract/limits.ts';
import { nameOf } from '../limits/local-limiter.ts';
import { CountedParty } from './counted-party.ts';

/** Keys and groups with limits that this replica has met, and what jobs hold of their budgets. */
export class CountedParties {
  readonly #parties = new Map<string, CountedParty>();
  /** By party and job: leases; the party need not be there yet. */
  readonly #held = new Map<string, Map<string, string>>();

  /** Created on first use, and anew when its limits have changed. */
  of(limited: Limited): CountedParty {
    const name = nameOf(limited.scope, limited.id);
    const known = this.#parties.get(name);
    if (known?.isOf(limited)) return known;
    const party = new CountedParty(limited, known);
    for (const [job, lease] of this.#held.get(name) ?? []) party.leases.set(job, lease);
    this.#parties.set(name, party);
    return party;
  }

  /** By the name of an account; undefined: not met. */
  get(name: string): CountedParty | undefined {
    return this.#parties.get(name);
  }

  all(): IterableIterator<CountedParty> {
    return this.#parties.values();
  }

  remove(scope: LimitScope, id: string): CountedParty | undefined {
    const name = nameOf(scope, id);
    const party = this.#parties.get(name);
    this.#parties.delete(name);
    return party;
  }

  /** Returns the party if it is known. */
  hold(name: string, job: string, lease: string): CountedParty | undefined {
    const held = this.#held.get(name) ?? new Map<string, string>();
    this.#held.set(name, held.set(job, lease));
    const party = this.#parties.get(name);
    party?.leases.set(job, lease);
    return party;
  }

  release(name: string, job: string): CountedParty | undefined {
    const held = this.#held.get(name);
    held?.delete(job);
    if (held?.size === 0) this.#held.delete(name);
    const party = this.#parties.get(name);
    party?.leases.delete(job);
    return party;
  }
}
