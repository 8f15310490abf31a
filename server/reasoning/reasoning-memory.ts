/** Reasoning kept in memory, oldest first, with limits for number and length. */

/** The reasoning of one answer, by its client's key and the id of its first call. */
export interface KeptReasoning {
  keyId: string;
  callId: string;
  /** Unix milliseconds. */
  keptAtMs: number;
  /** Opaque to the store. */
  reasoning: string;
}

const maxEntries = 20_000;
const defaultMaxLength = 32 * 1024 * 1024;

/** The key of an entry. */
export function placeOf({ keyId, callId }: Pick<KeptReasoning, 'keyId' | 'callId'>): string {
  return `${keyId}\n${callId}`;
}

export class ReasoningMemory {
  readonly #maxLength: number;
  readonly #entries = new Map<string, KeptReasoning>();
  #length = 0;

  /** @param maxLength total length of all entries, in characters */
  constructor(maxLength = defaultMaxLength) {
    this.#maxLength = maxLength;
  }

  get(keyId: string, callId: string): KeptReasoning | undefined {
    return this.#entries.get(placeOf({ keyId, callId }));
  }

  /** Returns the evicted entries. */
  set(kept: KeptReasoning): KeptReasoning[] {
    const place = placeOf(kept);
    this.#delete(place);
    this.#entries.set(place, kept);
    this.#length += kept.reasoning.length;
    const evicted: KeptReasoning[] = [];
    for (const [oldest, each] of this.#entries) {
      if (this.#entries.size <= maxEntries && this.#length <= this.#maxLength) break;
      this.#delete(oldest);
      evicted.push(each);
    }
    return evicted;
  }

  /** Deletes the entries that were stored at this time or before. */
  deleteUntil(timeMs: number): void {
    for (const [place, { keptAtMs }] of this.#entries) if (keptAtMs <= timeMs) this.#delete(place);
  }

  #delete(place: string): void {
    this.#length -= this.#entries.get(place)?.reasoning.length ?? 0;
    this.#entries.delete(place);
  }
}
