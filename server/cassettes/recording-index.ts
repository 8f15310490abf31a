import type { MatchKeys } from './matching.ts';

/** A recorded exchange, without its content. */
export interface Entry extends MatchKeys {
  /** The name of its file. */
  name: string;
  /** See `exactHashOf`. */
  exact: string | null;
  /** See `Matching.partsOf`. */
  parts: Uint32Array;
  /** Whether a request of this run has used it. */
  isTaken: boolean;
}

/** The recordings of a cassette in the order of their names. Equal requests use them in this order. */
export class RecordingIndex {
  readonly #entries: Entry[] = [];
  readonly #strict = new Map<string, Chain>();
  readonly #loose = new Map<string, Chain>();
  readonly #exact = new Map<string, MatchKeys>();

  get size(): number {
    return this.#entries.length;
  }

  get untaken(): string[] {
    return this.#entries.filter(({ isTaken }) => !isTaken).map(({ name }) => name);
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    chainOf(this.#strict, entry.strict).add(entry);
    chainOf(this.#loose, entry.loose).add(entry);
    if (entry.exact !== null) this.#exact.set(entry.exact, entry);
  }

  /** The keys of requests with these bytes (see `exactHash`); null if unknown. */
  keysOfExact(exact: string): MatchKeys | null {
    return this.#exact.get(exact) ?? null;
  }

  /** Takes the next unused recording of an equal request; null if there is none. */
  takeNext(keys: MatchKeys): Entry | null {
    const entry = this.#strict.get(keys.strict)?.next() ?? this.#loose.get(keys.loose)?.next() ?? null;
    if (entry) entry.isTaken = true;
    return entry;
  }

  /** Like `takeNext`, but when all are used, returns the last one again. */
  takeOrRepeat(keys: MatchKeys): Entry | null {
    return this.takeNext(keys) ?? this.#strict.get(keys.strict)?.last ?? this.#loose.get(keys.loose)?.last ?? null;
  }

  /** The recordings that share the most parts with the request; none if no recording shares any. */
  nearest(parts: Uint32Array): Entry[] {
    const wantedParts = new Set(parts);
    let nearest: Entry[] = [];
    let mostShared = 1;
    for (const entry of this.#entries) {
      let sharedParts = 0;
      for (const part of entry.parts) if (wantedParts.has(part)) sharedParts++;
      if (sharedParts < mostShared) continue;
      if (sharedParts > mostShared) nearest = [];
      if (nearest.length < mostNearest) nearest.push(entry);
      mostShared = sharedParts;
    }
    return nearest;
  }
}

/** Each is read. */
const mostNearest = 100;

/** Recordings of equal requests. */
class Chain {
  readonly #entries: Entry[] = [];
  /** Index of the first recording that is not taken. */
  #from = 0;

  add(entry: Entry): void {
    this.#entries.push(entry);
  }

  get last(): Entry | null {
    return this.#entries.at(-1) ?? null;
  }

  next(): Entry | null {
    while (this.#entries[this.#from]?.isTaken) this.#from++;
    return this.#entries[this.#from] ?? null;
  }
}

function chainOf(chains: Map<string, Chain>, key: string): Chain {
  const existing = chains.get(key);
  if (existing) return existing;
  const chain = new Chain();
  chains.set(key, chain);
  return chain;
}
