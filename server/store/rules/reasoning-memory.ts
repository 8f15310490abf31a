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
export function entryKeyOf({ keyId, callId }: Pick<KeptReasoning, 'keyId' | 'callId'>): string {
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
    return this.#entries.get(entryKeyOf({ keyId, callId }));
  }

  /** Returns the evicted entries. */
  set(entry: KeptReasoning): KeptReasoning[] {
    const entryKey = entryKeyOf(entry);
    this.#delete(entryKey);
    this.#entries.set(entryKey, entry);
    this.#length += entry.reasoning.length;
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
    for (const [entryKey, { keptAtMs }] of this.#entries) if (keptAtMs <= timeMs) this.#delete(entryKey);
  }

  #delete(entryKey: string): void {
    this.#length -= this.#entries.get(entryKey)?.reasoning.length ?? 0;
    this.#entries.delete(entryKey);
  }
}
