import type { Limited } from '../contract/limits.ts';
import { type Party, PartyMap } from '../limits/party-map.ts';
import { CountedParty } from './counted-party.ts';

/** Keys and groups with limits that this replica has seen, and the amounts that jobs reserve in their budgets. */
export class CountedParties {
  readonly #parties = new PartyMap<CountedParty>();
  /** Leases by party and job; the party need not exist yet. */
  readonly #held = new PartyMap<Map<string, string>>();

  /** Created on first use, and again when its limits have changed. */
  of(limited: Limited): CountedParty {
    const known = this.#parties.get(limited);
    if (known?.isOf(limited)) return known;
    const party = new CountedParty(limited, known);
    for (const [job, lease] of this.#held.get(limited) ?? []) party.leases.set(job, lease);
    this.#parties.set(limited, party);
    return party;
  }

  /** undefined if the party has not been seen. */
  get(named: Party): CountedParty | undefined {
    return this.#parties.get(named);
  }

  all(): IterableIterator<CountedParty> {
    return this.#parties.values();
  }

  remove(named: Party): CountedParty | undefined {
    const party = this.#parties.get(named);
    this.#parties.delete(named);
    return party;
  }

  /** Returns the party if it is known. */
  hold(named: Party, job: string, lease: string): CountedParty | undefined {
    const held = this.#held.get(named) ?? new Map<string, string>();
    this.#held.set(named, held.set(job, lease));
    const party = this.#parties.get(named);
    party?.leases.set(job, lease);
    return party;
  }

  release(named: Party, job: string): CountedParty | undefined {
    const held = this.#held.get(named);
    held?.delete(job);
    if (held?.size === 0) this.#held.delete(named);
    const party = this.#parties.get(named);
    party?.leases.delete(job);
    return party;
  }
}
