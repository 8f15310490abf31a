/**
 * A folder of recordings, of a whole cassette or of one of its tests: records exchanges in it, or answers from them.
 */

import { createHash } from 'node:crypto';
import type { CassetteMode } from '../contract/cassette.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Pace, StoredAnswer } from '../exchange/answer/local-reply.ts';
import type { CassetteRequest, TakeResult } from '../exchange/cassette/cassette-companion.ts';
import { Redactor } from '../exchange/redact/redactor.ts';
import { describeFileProblem } from '../ground/files/regular-file.ts';
import { fileNameOf, listRecordings, makeFolder, numberOf, readRecording, writeRecording } from './cassette-files.ts';
import type { RecordedExchange, RecordedRequest } from './format.ts';
import {
  canonicalJson,
  comparedBody,
  differingLength,
  type Entry,
  firstDifference,
  type Matching,
  RecordingIndex,
  saysTheSame,
} from './matching.ts';
import { describeRequest, ExchangeRecording, maxRecordedBytes, modelOf, unpackAnswer } from './recording.ts';

interface PartOptions {
  folder: string;
  mode: CassetteMode;
  pace: Pace;
  matching: Matching;
  /** Its folder is made for its first recording. */
  isOfTest: boolean;
  problem(line: string): void;
  /** Contains each recording while it is being written. */
  writing: Set<Promise<void>>;
}

/** A request without a recording. */
interface MissedRequest {
  /** The folder of its test; null if it names none. */
  test: string | null;
  /** `POST /v1/chat/completions`. */
  request: string;
  /** The file of the nearest recording, and the first field that differs from it. */
  nearest: string | null;
  field: string | null;
}

/** Further ones are only counted. */
const mostMissed = 100;

export interface PartSummary {
  hits: number;
  misses: number;
  recorded: number;
  /** Requests that Sluice refused, or whose answer is too large. */
  unrecorded: number;
  /** Recordings that could not be written. */
  failed: number;
  /** The files of recordings that no request has used. */
  unused: string[];
  /** The first of those without a recording. */
  missed: MissedRequest[];
}

export class CassettePart {
  /** Models of the recorded requests. */
  readonly models: ReadonlySet<string>;
  readonly #options: PartOptions;
  readonly #matching: Matching;
  readonly #index: RecordingIndex;
  readonly #answers: AnswerMemory;
  /** Bodies as they are compared, by file; filled when a request misses. */
  readonly #texts = new Map<string, string>();
  readonly #missed: MissedRequest[] = [];
  readonly #counts = { hits: 0, misses: 0, recorded: 0, unrecorded: 0, failed: 0 };
  #lastNumber: number;
  #writeProblem: string | null = null;

  private constructor(options: PartOptions, { index, answers, models, lastNumber }: ReadCassette) {
    this.#options = options;
    this.#matching = options.matching;
    this.#index = index;
    this.#answers = answers;
    this.models = models;
    this.#lastNumber = lastNumber;
  }

  /** Reads all recordings. Rejects with a CassetteError that names the unusable file and field. */
  static async open(options: PartOptions): Promise<CassettePart> {
    return new CassettePart(options, await readPart(options));
  }

  /** One whose folder is not there yet. */
  static empty(options: PartOptions): CassettePart {
    const nothing = { index: new RecordingIndex(), answers: new AnswerMemory(), models: new Set<string>() };
    return new CassettePart(options, { ...nothing, lastNumber: 0 });
  }

  get summary(): PartSummary {
    return { ...this.#counts, unused: this.#index.untaken, missed: [...this.#missed] };
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
    const former = mode === 'record' ? this.#index.takeNext(keys) : null;
    const file = former ?? this.#newEntry(incoming, request);
    const ended = (exchange: Promise<RecordedExchange> | 'unanswered' | 'too-large') =>
      this.#ended({ name: file.name, isNew: former === null }, exchange);
    return { kind: 'recorded', recording: new ExchangeRecording({ incoming, request, redactor, startMs, ended }) };
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

  #ended(file: RecordedFile, exchange: Promise<RecordedExchange> | 'unanswered' | 'too-large'): void {
    if (typeof exchange === 'string') {
      this.#counts.unrecorded++;
      if (exchange === 'too-large') {
        this.#options.problem(`An answer of more than ${maxRecordedBytes / 2 ** 20} MiB was not recorded.`);
      }
      return;
    }
    const writing = this.#write(file, exchange).finally(() => this.#options.writing.delete(writing));
    this.#options.writing.add(writing);
  }

  async #write({ name, isNew }: RecordedFile, exchange: Promise<RecordedExchange>): Promise<void> {
    const { folder, problem, isOfTest } = this.#options;
    try {
      const now = await exchange;
      // One that says the same stays as it is, so that recording again makes no difference in version control.
      const before = isNew ? null : await readRecording(folder, name).catch(() => null);
      if (before === null || !saysTheSame(before, now)) {
        if (isOfTest) await makeFolder(folder);
        await writeRecording(folder, name, now);
      }
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
    const nearest = await this.#nearest(request);
    const { text, field } = nearest
      ? await this.#compare(nearest, request)
      : { text: 'The cassette has no similar request.', field: null };
    const asked = `${request.method} ${request.path}`;
    if (this.#missed.length < mostMissed) this.#missed.push({ test: null, request: asked, nearest, field });
    const message = `No recording in ${folder} answers this ${asked}. ${text}`;
    return new GatewayError('replay_miss', message, { headers: { 'x-sluice-replay': 'miss' } });
  }

  /** Of those that share the most parts with the request, the file of the one whose text differs least. */
  async #nearest(request: RecordedRequest): Promise<string | null> {
    const candidates = this.#index.nearest(this.#matching.partsOf(request));
    const wanted = this.#textOf(request);
    let nearest = candidates[0]?.name ?? null;
    let least = Number.POSITIVE_INFINITY;
    for (const { name } of candidates) {
      const text = this.#texts.get(name) ?? (await this.#readText(name));
      const difference = text === null ? Number.POSITIVE_INFINITY : differingLength(text, wanted);
      if (difference >= least) continue;
      nearest = name;
      least = difference;
    }
    return nearest;
  }

  async #readText(name: string): Promise<string | null> {
    const recording = await readRecording(this.#options.folder, name).catch(() => null);
    if (recording === null) return null;
    const text = this.#textOf(recording.request);
    if (this.#texts.size < mostTexts) this.#texts.set(name, text);
    return text;
  }

  #textOf(request: RecordedRequest): string {
    return canonicalJson(comparedBody(request), this.#matching.loose).slice(0, longestText);
  }

  async #compare(name: string, requested: RecordedRequest): Promise<{ text: string; field: string | null }> {
    const recording = await readRecording(this.#options.folder, name).catch(() => null);
    if (recording === null) return { text: `The nearest one, ${name}, cannot be read any more.`, field: null };
    const { request } = recording;
    if (request.method !== requested.method || request.path !== requested.path) {
      return { text: `The nearest one, ${name}, is of ${request.method} ${request.path}.`, field: null };
    }
    const rules = this.#matching.loose;
    const difference = firstDifference(comparedBody(request), comparedBody(requested), rules);
    if (!difference) return { text: `The nearest one is ${name}.`, field: null };
    const { field, recorded, requested: now } = difference;
    return { text: `The nearest one, ${name}, differs first in ${field}: recorded ${recorded}, asked ${now}.`, field };
  }
}

interface RecordedFile {
  name: string;
  /** Whether no recording had this name before. */
  isNew: boolean;
}

/** Of a body, this much is compared with others, and of so many it is kept. */
const longestText = 65_536;
const mostTexts = 500;

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

async function readPart({ folder, matching, isOfTest }: PartOptions): Promise<ReadCassette> {
  const names = await listRecordings(folder, isOfTest);
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

// A fast look-up of recordings: most clients serialise JSON as `JSON.stringify` does, so the bytes of their requests
// are known when a cassette is read.

/** Hash of the bytes that a client sent. */
function exactHash(method: string, url: string, body: Buffer | string | null): string {
  return createHash('sha256')
    .update(`${method} ${url}\n`)
    .update(body ?? '')
    .digest('base64');
}

/** Hash of the bytes that a client probably sends for this request; null for forms and other bytes. */
function exactHashOf({ method, path, body }: RecordedRequest): string | null {
  if (body === null) return exactHash(method, path, null);
  return 'json' in body ? exactHash(method, path, JSON.stringify(body.json)) : null;
}

/** A cassette that people can read is smaller. Further answers of a larger one are read from its files when needed. */
const maxBytes = 32 * 1024 * 1024;
/** Approximate size of an answer besides its bytes. */
const answerBytes = 512;

/** Keeps answers in memory as long as there is room. */
class AnswerMemory {
  readonly #answers = new Map<string, StoredAnswer>();
  #bytes = 0;

  add(name: string, answer: StoredAnswer): void {
    const bytes = answer.pieces.reduce((sum, piece) => sum + piece.bytes.length + answerBytes, answerBytes);
    if (this.#bytes + bytes > maxBytes) return;
    this.#bytes += bytes;
    this.#answers.set(name, answer);
  }

  get(name: string): StoredAnswer | undefined {
    return this.#answers.get(name);
  }
}
