import type { CassetteChoice, CassetteView } from '../contract/cassette.ts';
import { CassetteError } from './cassette-files.ts';
import { allOf } from './cassette-part.ts';
import { OpenCassette } from './deck.ts';

/**
 * The cassettes of a gateway's groups and keys. Each is opened on first use and shared by all groups and keys that name
 * it.
 */
export class CassetteRegistry {
  readonly #problem: (line: string) => void;
  readonly #slots = new Map<string, Slot>();
  /** Pending writes of all cassettes, including those that have been dropped. */
  readonly #writing = new Set<Promise<void>>();

  /** `problem` receives problems with writing, one line each, without secrets. */
  constructor(problem: (line: string) => void) {
    this.#problem = problem;
  }

  /** Rejects with a CassetteError that names the file and the field; the next call tries again. */
  open(choice: CassetteChoice): Promise<OpenCassette> {
    const name = nameOf(choice);
    const slot = this.#slots.get(name) ?? new Slot(choice, { problem: this.#problem, writing: this.#writing });
    this.#slots.set(name, slot);
    return slot.open();
  }

  /** Reopens the cassettes of this folder, or all, at their next request. */
  rewind(folder: string | null): void {
    this.#drop((slot) => folder === null || slot.choice.folder === folder);
  }

  /** Drops all others. */
  keepOnly(choices: readonly CassetteChoice[]): void {
    const keptNames = new Set(choices.map(nameOf));
    this.#drop((slot) => !keptNames.has(nameOf(slot.choice)));
  }

  view(choice: CassetteChoice): CassetteView {
    return this.#slots.get(nameOf(choice))?.view() ?? unopened(choice);
  }

  /** Resolves once all recordings are written. */
  async close(): Promise<void> {
    await allOf(this.#writing);
  }

  #drop(isDropped: (slot: Slot) => boolean): void {
    for (const [name, slot] of this.#slots) {
      if (isDropped(slot)) this.#slots.delete(name);
    }
  }
}

/** The view of a cassette that no request has used yet. */
function unopened(choice: CassetteChoice): CassetteView {
  return { ...choice, recordings: null, hits: 0, misses: 0, recorded: 0, failed: 0, problem: null };
}

function nameOf({ mode, folder }: CassetteChoice): string {
  return `${mode} ${folder}`;
}

interface SlotOptions {
  problem(line: string): void;
  writing: Set<Promise<void>>;
}

class Slot {
  readonly choice: CassetteChoice;
  readonly #options: SlotOptions;
  #opening: Promise<OpenCassette> | null = null;
  #cassette: OpenCassette | null = null;
  #refusal: string | null = null;

  constructor(choice: CassetteChoice, options: SlotOptions) {
    this.choice = choice;
    this.#options = options;
  }

  open(): Promise<OpenCassette> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  view(): CassetteView {
    if (!this.#cassette) return { ...unopened(this.choice), problem: this.#refusal };
    const { recordings, problem, summary } = this.#cassette;
    const { hits, misses, recorded, failed } = summary;
    return { ...this.choice, recordings, hits, misses, recorded, failed, problem };
  }

  async #open(): Promise<OpenCassette> {
    try {
      // The latest recordings must be found. Those that begin meanwhile are not awaited: there may always be some.
      await Promise.all(this.#options.writing);
      this.#cassette = await OpenCassette.open({ ...this.choice, ...this.#options, pace: 0 });
      this.#refusal = null;
      return this.#cassette;
    } catch (error) {
      this.#opening = null;
      if (error instanceof CassetteError) this.#refuse(error.message);
      throw error;
    }
  }

  /** Reports the problem once, not with each request. */
  #refuse(reason: string): void {
    if (this.#refusal !== reason) this.#options.problem(reason);
    this.#refusal = reason;
  }
}
