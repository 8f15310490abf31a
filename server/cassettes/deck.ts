/**
 * A cassette in use: its recordings, and those of each test that names itself, which are kept apart from all others.
 */
import { join } from 'node:path';
import { type CassetteChoice, type CassetteMode, type CassetteView, testHeader } from '../contract/cassette.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Pace } from '../exchange/answer/local-reply.ts';
import type { CassetteDeck, CassetteRequest, TakeResult } from '../exchange/cassette/cassette-companion.ts';
import { CassetteError, folderOfTest, listTests, prepareFolder, readCassetteSettings } from './cassette-files.ts';
import { allOf, CassettePart, type PartSummary } from './cassette-part.ts';
import { Matching } from './matching.ts';

interface DeckOptions {
  folder: string;
  mode: CassetteMode;
  /** The pace of replayed streams. */
  pace: Pace;
  /** Receives problems in writing, one line each; no secrets. Only the first of consecutive problems. */
  problem(line: string): void;
  /** Contains each recording while it is being written; absent: a new set. */
  writing?: Set<Promise<void>>;
}

export type CassetteSummary = PartSummary;

/** Clients name them, so that a client could fill memory and disk with them. */
const mostTests = 5_000;

export class OpenCassette implements CassetteDeck {
  readonly replaysOnly: boolean;
  readonly #options: Required<DeckOptions>;
  readonly #matching: Matching;
  readonly #root: CassettePart;
  /** By the name of the test's folder. */
  readonly #tests: Map<string, CassettePart>;

  private constructor(
    options: Required<DeckOptions>,
    matching: Matching,
    { root, tests }: { root: CassettePart; tests: Map<string, CassettePart> },
  ) {
    this.#options = options;
    this.#matching = matching;
    this.#root = root;
    this.#tests = tests;
    this.replaysOnly = options.mode === 'replay';
  }

  /** Reads all recordings. Rejects with a CassetteError that names the unusable file and field. */
  static async open(given: DeckOptions): Promise<OpenCassette> {
    const options = { writing: new Set<Promise<void>>(), ...given };
    const { folder, mode } = options;
    if (mode !== 'replay') await prepareFolder(folder);
    const matching = new Matching(await readCassetteSettings(folder));
    const names = await listTests(folder);
    const root = await CassettePart.open({ ...options, matching, isOfTest: false });
    const tests = new Map<string, CassettePart>();
    for (const name of names) {
      const part = { ...options, folder: join(folder, name), matching, isOfTest: true };
      tests.set(name, await CassettePart.open(part));
    }
    return new OpenCassette(options, matching, { root, tests });
  }

  /** Files of tests with the folder in front. */
  get summary(): CassetteSummary {
    const summary = this.#root.summary;
    for (const [test, part] of this.#tests) {
      const { unused, missed, ...counts } = part.summary;
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) summary[name] += counts[name];
      summary.unused.push(...unused.map((file) => `${test}/${file}`));
      summary.missed.push(
        ...missed.map((miss) => ({ ...miss, test, nearest: miss.nearest && `${test}/${miss.nearest}` })),
      );
    }
    return summary;
  }

  /** The number of recordings when it was opened. */
  get recordings(): number {
    return this.#parts.reduce((sum, { recordings }) => sum + recordings, 0);
  }

  /** Models of the recorded requests. */
  get models(): ReadonlySet<string> {
    return new Set(this.#parts.flatMap(({ models }) => [...models]));
  }

  /** Why the latest recording could not be written; null if it could, or there was none. */
  get problem(): string | null {
    return this.#parts.map(({ problem }) => problem).find((problem) => problem !== null) ?? null;
  }

  async take(incoming: CassetteRequest): Promise<TakeResult> {
    const test = incoming.headers[testHeader];
    return (typeof test === 'string' && test !== '' ? this.#ofTest(folderOfTest(test)) : this.#root).take(incoming);
  }

  async close(): Promise<void> {
    await allOf(this.#options.writing);
  }

  get #parts(): CassettePart[] {
    return [this.#root, ...this.#tests.values()];
  }

  #ofTest(name: string): CassettePart {
    const known = this.#tests.get(name);
    if (known) return known;
    if (this.#tests.size >= mostTests)
      throw new GatewayError('cassette_unusable', `${this.#options.folder} has more than ${mostTests} tests.`);
    const folder = join(this.#options.folder, name);
    const part = CassettePart.empty({ ...this.#options, folder, matching: this.#matching, isOfTest: true });
    this.#tests.set(name, part);
    return part;
  }
}

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
