/** Records the exchanges of a gateway in a cassette, or answers its requests from the recordings. */
import type { CassetteMode } from '../contract/cassette.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Pace, StoredAnswer } from '../exchange/answer/stored-answer.ts';
import type { CassetteDeck, CassetteRequest, TakeResult } from '../exchange/cassette/cassette-deck.ts';
import { Redactor } from '../exchange/redact/redactor.ts';
import { describeFileProblem } from '../ground/files/file-problem.ts';
import { AnswerMemory } from './answer-memory.ts';
import { comparedBody } from './canonical.ts';
import {
  listRecordings,
  prepareFolder,
  readCassetteSettings,
  readRecording,
  writeRecording,
} from './cassette-files.ts';
import { firstDifference } from './difference.ts';
import { exactHash, exactHashOf } from './exact-request.ts';
import type { RecordedExchange, RecordedRequest } from './format.ts';
import { Matching } from './matching.ts';
import { modelOf } from './model-of.ts';
import { ExchangeRecording, maxRecordedBytes } from './recording.ts';
import { type Entry, RecordingIndex } from './recording-index.ts';
import { fileNameOf, numberOf } from './recording-name.ts';
import { describeRequest } from './request-part.ts';
import { unpackAnswer } from './response-part.ts';

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

export interface CassetteSummary {
  hits: number;
  misses: number;
  recorded: number;
  /** Requests that Sluice refused, or whose answer is too large. */
  unrecorded: number;
  /** Recordings that could not be written. */
  failed: number;
  /** The files of recordings that no request has used. */
  unused: string[];
}

export class OpenCassette implements CassetteDeck {
  readonly replaysOnly: boolean;
  /** Models of the recorded requests. */
  readonly models: ReadonlySet<string>;
  readonly #options: DeckOptions;
  readonly #matching: Matching;
  readonly #index: RecordingIndex;
  readonly #answers: AnswerMemory;
  readonly #writing: Set<Promise<void>>;
  readonly #counts = { hits: 0, misses: 0, recorded: 0, unrecorded: 0, failed: 0 };
  #lastNumber: number;
  #writeProblem: string | null = null;

  private constructor(options: DeckOptions, matching: Matching, { index, answers, models, lastNumber }: ReadCassette) {
    this.#options = options;
    this.#writing = options.writing ?? new Set();
    this.#matching = matching;
    this.#index = index;
    this.#answers = answers;
    this.models = models;
    this.#lastNumber = lastNumber;
    this.replaysOnly = options.mode === 'replay';
  }

  /** Reads all recordings. Rejects with a CassetteError that names the unusable file and field. */
  static async open(options: DeckOptions): Promise<OpenCassette> {
    const { folder, mode } = options;
    if (mode !== 'replay') await prepareFolder(folder);
    const matching = new Matching(await readCassetteSettings(folder));
    return new OpenCassette(options, matching, await readCassette(folder, matching));
  }

  get summary(): CassetteSummary {
    return { ...this.#counts, unused: this.#index.untaken };
  }

  /** The number of recordings when it was opened. */
  get recordings(): number {
    return this.#index.size;
  }

  /** Why the latest recording could not be written; null if it could, or there was none. */
  get problem(): string | null {
    return this.#writeProblem;
  }

  async take(incoming: CassetteRequest): Promise<TakeResult> {
    const startMs = performance.now();
    const { mode } = this.#options;
    const exact =
      mode === 'record' ? null : this.#index.keysOfExact(exactHash(incoming.method, incoming.url, incoming.body));
    const equal = exact && this.#index.takeOrRepeat(exact);
    if (equal) return this.#replay(equal);
    const redactor = new Redactor(incoming.secrets, this.#matching.redactions);
    const request = await describeRequest(incoming, redactor);
    const keys = this.#matching.keysOf(request);
    const recordedEntry = mode === 'record' ? null : this.#index.takeOrRepeat(keys);
    if (recordedEntry) return this.#replay(recordedEntry);
    if (mode === 'replay') throw await this.#miss(request);
    const entry = (mode === 'record' ? this.#index.takeNext(keys) : null) ?? this.#newEntry(incoming, request);
    const ended = (exchange: Promise<RecordedExchange> | 'unanswered' | 'too-large') =>
      this.#ended(entry.name, exchange);
    return { kind: 'recorded', recording: new ExchangeRecording({ incoming, request, redactor, startMs, ended }) };
  }

  async close(): Promise<void> {
    await allOf(this.#writing);
  }

  async #replay({ name }: Entry): Promise<TakeResult> {
    const answer = this.#answers.get(name) ?? (await this.#readAnswer(name));
    this.#counts.hits++;
    return { kind: 'replayed', answer, pace: this.#options.pace };
  }

  async #readAnswer(name: string): Promise<StoredAnswer> {
    const { response } = await readRecording(this.#options.folder, name).catch((error: unknown) => {
      throw new GatewayError('cassette_unusable', error instanceof Error ? error.message : String(error));
    });
    return unpackAnswer(response);
  }

  /** The new recording is not replayed in this run; otherwise timing would decide the order of equal requests. */
  #newEntry(incoming: CassetteRequest, request: RecordedRequest): Pick<Entry, 'name'> {
    const hash = this.#matching.keysOf(request).loose;
    return { name: fileNameOf({ number: ++this.#lastNumber, label: incoming.label, hash }) };
  }

  #ended(name: string, exchange: Promise<RecordedExchange> | 'unanswered' | 'too-large'): void {
    if (typeof exchange === 'string') {
      this.#counts.unrecorded++;
      if (exchange === 'too-large') {
        this.#options.problem(`An answer of more than ${maxRecordedBytes / 2 ** 20} MiB was not recorded.`);
      }
      return;
    }
    const writing = this.#write(name, exchange).finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  async #write(name: string, exchange: Promise<RecordedExchange>): Promise<void> {
    const { folder, problem } = this.#options;
    try {
      await writeRecording(folder, name, await exchange);
      this.#counts.recorded++;
      this.#writeProblem = null;
    } catch (error) {
      this.#counts.failed++;
      const isFirst = this.#writeProblem === null;
      this.#writeProblem = `The recording ${name} could not be written to ${folder}: ${describeFileProblem(error)}.`;
      if (isFirst) problem(this.#writeProblem);
    }
  }

  async #miss(request: RecordedRequest): Promise<GatewayError> {
    this.#counts.misses++;
    const { folder } = this.#options;
    const nearest = this.#index.nearest(this.#matching.partsOf(request));
    const comparison = nearest ? await this.#compare(nearest.name, request) : 'The cassette has no similar request.';
    const message = `No recording in ${folder} answers this ${request.method} ${request.path}. ${comparison}`;
    return new GatewayError('replay_miss', message, { headers: { 'x-sluice-replay': 'miss' } });
  }

  async #compare(name: string, requested: RecordedRequest): Promise<string> {
    const recording = await readRecording(this.#options.folder, name).catch(() => null);
    if (recording === null) return `The nearest one, ${name}, cannot be read any more.`;
    const { request } = recording;
    if (request.method !== requested.method || request.path !== requested.path) {
      return `The nearest one, ${name}, is of ${request.method} ${request.path}.`;
    }
    const rules = this.#matching.loose;
    const difference = firstDifference(comparedBody(request), comparedBody(requested), rules);
    if (!difference) return `The nearest one is ${name}.`;
    const { field, recorded, requested: now } = difference;
    return `The nearest one, ${name}, differs first in ${field}: recorded ${recorded}, asked ${now}.`;
  }
}

/** Resolves when the set is empty, including entries added meanwhile. */
export async function allOf(writing: ReadonlySet<Promise<void>>): Promise<void> {
  while (writing.size > 0) await Promise.all(writing);
}

interface ReadCassette {
  index: RecordingIndex;
  answers: AnswerMemory;
  models: Set<string>;
  lastNumber: number;
}

/** The number of files read in parallel. */
const filesAtOnce = 16;

async function readCassette(folder: string, matching: Matching): Promise<ReadCassette> {
  const names = await listRecordings(folder);
  const entries = new Array<Entry>(names.length);
  const answers = new AnswerMemory();
  const models = new Set<string>();
  let next = 0;
  const readOn = async () => {
    for (let at = next++; at < names.length; at = next++) {
      const name = names[at] ?? '';
      const { request, response } = await readRecording(folder, name);
      answers.add(name, unpackAnswer(response));
      const matchParts = { exact: exactHashOf(request), parts: matching.partsOf(request) };
      entries[at] = { name, ...matching.keysOf(request), ...matchParts, isTaken: false };
      const model = modelOf(request);
      if (model !== null) models.add(model);
    }
  };
  await Promise.all(Array.from({ length: filesAtOnce }, readOn));
  const index = new RecordingIndex();
  for (const entry of entries) index.add(entry);
  return { index, answers, models, lastNumber: names.reduce((most, name) => Math.max(most, numberOf(name)), 0) };
}
