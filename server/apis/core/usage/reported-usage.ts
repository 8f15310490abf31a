/**
 * Finds the usage that an answer reports, in what is kept of it. The only reader for all APIs, and for both the ledger
 * and the clients of other APIs: an API says where it reports usage, and what the object means. Nothing else in an
 * answer counts, because texts and the arguments of tools may echo what the client wrote. Pure.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { Usage } from '../../../contract/ledger.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { type Member, membersOfBeginning, membersOfEnd } from '../../json/json-peek.ts';
import { parseObject } from '../../json/parse-object.ts';
import type { KeptAnswer, MostUsage } from '../wire.ts';

type Fields = Record<string, unknown>;

/** How an API reports usage. */
export interface UsageReports {
  /** The member with the usage, which a whole answer has at its top level. */
  readonly name: string;
  /**
   * Where the events of a stream have it, the usual place first: the names from the top level down to `name`. `*` is the
   * last element of a list.
   */
  readonly places: readonly (readonly string[])[];
  /** Whether the object reports everything. Otherwise what it lacks is as in earlier events of its stream. */
  isComplete(fields: Fields): boolean;
  /** Null if the object reports nothing that is known. */
  toUsage(fields: Fields): Usage | null;
}

/** A usage object, and the object that has it; null if not all of that is kept, or more than one reported. */
interface Report {
  fields: Fields;
  owner: Fields | null;
}

/** The usage that an answer reports; in a stream, after its last event. */
export function reportedUsage(answer: KeptAnswer, reports: UsageReports): Usage | null {
  return latestReport(answer, reports)?.usage ?? null;
}

/** The same, with the object that reports it. */
export function latestReport(answer: KeptAnswer, reports: UsageReports): { usage: Usage; owner: Fields | null } | null {
  if (answer.document) {
    const usage = usageOfAnswer(answer.document, reports);
    return usage && { usage, owner: null };
  }
  const found = isEventStream(answer) ? inStream(answer, reports) : inDocument(answer, reports.name);
  let latest: Report | null = null;
  for (const report of found) {
    latest = latest === null ? report : merged(latest, report);
    if (!reports.isComplete(report.fields)) continue;
    const usage = reports.toUsage(latest.fields);
    if (usage !== null) return { usage, owner: latest.owner };
    latest = null;
  }
  const usage = latest && reports.toUsage(latest.fields);
  return usage && { usage, owner: null };
}

/** The usage in the object of a whole answer, or null. */
export function usageOfAnswer(answer: Fields, { name, toUsage }: UsageReports): Usage | null {
  const fields = answer[name];
  return isObject(fields) ? toUsage(fields) : null;
}

/** Reads the usage of a stream event by event. */
export class StreamedUsage {
  readonly #reports: UsageReports;
  #soFar: Report = { fields: {}, owner: null };

  constructor(reports: UsageReports) {
    this.#reports = reports;
  }

  /** The usage after this event; null if the event reports none. */
  push(event: Fields): Usage | null {
    for (const report of inEvent(event, this.#reports)) {
      this.#soFar = this.#reports.isComplete(report.fields) ? report : merged(report, this.#soFar);
      const usage = this.#reports.toUsage(this.#soFar.fields);
      if (usage !== null) return usage;
    }
    return null;
  }
}

/** A count of null leaves the value of an earlier event unchanged. */
function merged(later: Report, earlier: Report): Report {
  const fields = { ...earlier.fields };
  for (const [name, value] of Object.entries(later.fields)) if (value !== null) fields[name] = value;
  return { fields, owner: null };
}

/**
 * The numbers of this name at this level, for answers that report usage without an object of its own: 1 is the top level,
 * and each object or list around it counts.
 */
export function countsAt({ tail, head, whole }: KeptAnswer, name: string, level: number): number[] {
  const searched = whole !== undefined && whole.length <= maxSearchedBytes ? whole : null;
  if (searched)
    return numbersIn(searched, searched.includes(`"${name}"`) ? membersOfBeginning(searched, name) : [], level);
  const atEnd = numbersIn(tail, membersOfEnd(tail, name), level);
  return atEnd.length > 0 ? atEnd : numbersIn(head, membersOfBeginning(head, name), level);
}

function numbersIn(bytes: Buffer, members: readonly Member[], level: number): number[] {
  const atLevel = members.filter((member) => member.level === level);
  return atLevel.flatMap(({ start }) => {
    const digits = number.exec(bytes.toString('latin1', start, start + maxNumberLength));
    return digits ? [Number(digits[0])] : [];
  });
}

const maxNumberLength = 20;
const number = boundedPattern(/^\d{1,18}/);

const eventStreamType = boundedPattern(/event-stream/i);

export function isEventStream({ contentType }: KeptAnswer): boolean {
  return eventStreamType.test(contentType);
}

/**
 * Long answers that were held whole are searched from end to end only if they report no usage near either, and only up to
 * this length, because the search blocks other requests for a millisecond per 300 kB.
 */
const maxSearchedBytes = 4 * 1024 * 1024;

/** The latest first: nearly all services report usage at the end. */
function inDocument({ tail, head, whole }: KeptAnswer, name: string): Report[] {
  const found = objectsIn(tail, membersOfEnd(tail, name), 1);
  if (head.length > 0) found.push(...objectsIn(head, membersOfBeginning(head, name), 1));
  const isSearched = found.length === 0 && whole !== undefined && whole.length <= maxSearchedBytes;
  if (!isSearched || whole.length <= tail.length || !whole.includes(`"${name}"`)) return found;
  return objectsIn(whole, membersOfBeginning(whole, name), 1);
}

/** The last one first. */
function objectsIn(bytes: Buffer, members: readonly Member[], level: number): Report[] {
  const found: Report[] = [];
  for (let at = members.length - 1; at >= 0; at -= 1) {
    const member = members[at];
    if (member?.level !== level || member.end === null) continue;
    const fields = parse(bytes.toString('utf8', member.start, member.end));
    if (isObject(fields)) found.push({ fields, owner: null });
  }
  return found;
}

/** Limit of unparsable lines, each of which costs an exception. */
const maxFaults = 8;

function* inStream({ tail, head, line = none }: KeptAnswer, reports: UsageReports): Generator<Report, void, undefined> {
  yield* inLines(untilEnd(tail), reports, inCutBeginning);
  const event = eventIn(line);
  if (event !== null) yield* inCutEnd(event, reports);
  yield* inLines(head, reports, () => []);
}

const none = Buffer.alloc(0);
const done = Buffer.from('data: [DONE]');

/** What comes after the end of a stream of OpenAI's is read by no client. Within a text, the line end would be escaped. */
function untilEnd(tail: Buffer): Buffer {
  const end = tail.lastIndexOf(done);
  return end !== -1 && isLineEnd(tail[end - 1]) ? tail.subarray(0, end) : tail;
}

/** The last one first. `inCut` reads the first line, if it is no event. */
function* inLines(
  bytes: Buffer,
  reports: UsageReports,
  inCut: typeof inCutBeginning,
): Generator<Report, void, undefined> {
  let faults = 0;
  for (const { line, isFirst, isLast } of linesWith(reports.name, bytes)) {
    const event = eventIn(line);
    const value = event && parse(event.toString());
    if (isObject(value)) yield* inEvent(value, reports);
    else if (event === null && isFirst) yield* inCut(line, reports);
    else if (event !== null && isLast) yield* inCutEnd(event, reports);
    else faults += 1;
    if (faults === maxFaults) return;
  }
}

const dataField = 'data:';

function eventIn(line: Buffer): Buffer | null {
  return line.toString('latin1', 0, dataField.length) === dataField ? line.subarray(dataField.length) : null;
}

/** Of an event that lacks its beginning, and so the names around the usage: it counts at the level of the usual place. */
function inCutBeginning(event: Buffer, { name, places }: UsageReports): Report[] {
  return objectsIn(event, membersOfEnd(event, name), places[0]?.length ?? 1);
}

/** Of an event that lacks its end, such as a long `message_start`. */
function inCutEnd(event: Buffer, { name, places }: UsageReports): Report[] {
  const members = membersOfBeginning(event, name);
  return places.flatMap((place) => {
    const owners = place.slice(0, -1).map((owner) => membersOfBeginning(event, owner));
    const isThere = (member: Member) =>
      owners.every((same, at) => same.some((owner) => owner.level === at + 1 && isAround(owner, member)));
    return objectsIn(event, members.filter(isThere), place.length);
  });
}

function isAround(owner: Member, { start, end }: Member): boolean {
  return owner.start < start && (owner.end === null || (end !== null && end <= owner.end));
}

function inEvent(event: Fields, { places }: UsageReports): Report[] {
  const found: Report[] = [];
  for (const place of places) {
    let owner: unknown = null;
    let value: unknown = event;
    for (const name of place) {
      owner = value;
      value = memberOf(value, name);
    }
    if (isObject(value) && isObject(owner)) found.push({ fields: value, owner });
  }
  return found;
}

function memberOf(value: unknown, name: string): unknown {
  if (name === '*') return Array.isArray(value) ? value.at(-1) : undefined;
  return isObject(value) ? value[name] : undefined;
}

interface Line {
  line: Buffer;
  isFirst: boolean;
  isLast: boolean;
}

/** The lines with a member of this name whose value is an object, the last line first. */
function* linesWith(name: string, bytes: Buffer): Generator<Line, void, undefined> {
  const key = `"${name}"`;
  let before = bytes.length;
  while (before > 0) {
    const at = bytes.lastIndexOf(key, before - 1);
    if (at === -1) return;
    before = at;
    if (!isObjectAfter(bytes, at + key.length)) continue;
    const start = startOfLine(bytes, at);
    const end = endOfLine(bytes, at);
    yield { line: bytes.subarray(start, end), isFirst: start === 0, isLast: end === bytes.length };
    before = start;
  }
}

const colon = 0x3a;
const openBrace = 0x7b;

/** Skips the `"usage":null` that every chunk of a chat may have. */
function isObjectAfter(bytes: Buffer, key: number): boolean {
  let at = key;
  while (bytes[at] === colon || bytes[at] === 0x20 || bytes[at] === 0x09) at += 1;
  return bytes[at] === openBrace;
}

const isLineEnd = (byte: number | undefined) => byte === 0x0a || byte === 0x0d;

function startOfLine(bytes: Buffer, from: number): number {
  let at = from;
  while (at > 0 && !isLineEnd(bytes[at - 1])) at -= 1;
  return at;
}

function endOfLine(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && !isLineEnd(bytes[at])) at += 1;
  return at;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

interface CountsBesideCache {
  input: number | undefined;
  cacheRead: number;
  cacheWritten: number;
  /** The part of `cacheWritten` that is cached for an hour. */
  writtenForAnHour: number;
  output: number | undefined;
}

/**
 * Usage of APIs whose input excludes what was read from a cache or written to one: Anthropic's and Bedrock's. Pure.
 *
 * Null if nothing is counted.
 */
export function usageBesideCache(counts: CountsBesideCache): Usage | null {
  const { input, cacheRead, cacheWritten, writtenForAnHour, output } = counts;
  const isCounted = input !== undefined || output !== undefined || cacheRead !== 0 || cacheWritten !== 0;
  if (!isCounted) return null;
  return {
    ...(input !== undefined && { inputTokens: input + cacheRead + cacheWritten }),
    ...(output !== undefined && { outputTokens: output }),
    ...(cacheRead !== 0 && { cachedInputTokens: cacheRead }),
    ...(cacheWritten !== 0 && { cacheWriteTokens: cacheWritten }),
    ...(writtenForAnHour !== 0 && { cacheWriteOneHourTokens: writtenForAnHour }),
  };
}

/** Anthropic's object, which other services write as well. `output_tokens` include thinking. */
export function anthropicUsage(fields: Fields): Usage | null {
  const { cache_creation: creation, output_tokens_details: details } = fields;
  const forAnHour = isObject(creation) ? (countOf(creation.ephemeral_1h_input_tokens) ?? 0) : 0;
  const forMinutes = isObject(creation) ? (countOf(creation.ephemeral_5m_input_tokens) ?? 0) : 0;
  const thinking = isObject(details) ? (countOf(details.thinking_tokens) ?? 0) : 0;
  const usage = usageBesideCache({
    input: countOf(fields.input_tokens),
    cacheRead: countOf(fields.cache_read_input_tokens) ?? 0,
    cacheWritten: countOf(fields.cache_creation_input_tokens) ?? forMinutes + forAnHour,
    writtenForAnHour: forAnHour,
    output: countOf(fields.output_tokens),
  });
  return usage && { ...usage, ...(thinking !== 0 && { reasoningTokens: thinking }) };
}

type WholeDocument = Pick<KeptAnswer, 'tail' | 'bytes' | 'document'>;

/** A short answer as JSON; null if it is not kept whole, or is no JSON object. */
export function wholeDocument({ tail, bytes, document }: WholeDocument): Record<string, unknown> | null {
  if (document) return document;
  const isObject = bytes <= tail.length && tail.find((byte) => byte > 0x20 && byte < 0x80) === openBrace;
  return isObject ? parseObject(tail.toString('utf8').trim()) : null;
}

// Reads the counts of tokens in the usage of all APIs. Pure.

/**
 * The number that a value of parsed JSON, or a text of a form, states; NaN if it is neither. `Number` would throw for an
 * object with a member `toString`, and for deeply nested lists.
 */
export function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

/** The same for a count; null if it is not one. */
export function wholeNumberOf(value: unknown): number | null {
  const number = numberOf(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/**
 * Reads the counts of tokens in the usage of all APIs. Pure.
 *
 * Undefined if the value is no number. Google's JSON writes long counts as strings, and so do some services.
 */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() === '' ? Number.NaN : numberOf(value);
  return Number.isNaN(count) ? undefined : count;
}

/** The first of the values that is a number. */
export function firstCount(...values: readonly unknown[]): number | undefined {
  for (const value of values) {
    const count = countOf(value);
    if (count !== undefined) return count;
  }
  return undefined;
}

/** The sum of `count` over those elements of a list that satisfy `test`; 0 for anything else. */
export function sumOfCounts(list: unknown, name: string, test: (element: Record<string, unknown>) => boolean): number {
  const elements = Array.isArray(list) ? list.filter(isObject).filter(test) : [];
  return elements.reduce((sum, element) => sum + (countOf(element[name]) ?? 0), 0);
}

export const unbounded: MostUsage = {
  inputTokens: Number.MAX_SAFE_INTEGER,
  outputTokens: Number.MAX_SAFE_INTEGER,
  seconds: Number.MAX_SAFE_INTEGER,
};

const partsOfInput = ['cachedInputTokens', 'cacheWriteTokens', 'audioInputTokens', 'imageInputTokens'] as const;
const partsOfOutput = ['reasoningTokens', 'audioOutputTokens', 'imageOutputTokens'] as const;

interface Plausible {
  usage: Usage;
  /** A reported value was dropped or rounded up. */
  isCorrected: boolean;
}

/**
 * Checks whether reported usage is plausible. A count that is negative, or impossibly large for the request and its
 * response, is dropped: a single one would corrupt the totals of its key and month permanently. Pure.
 */
export function plausibleUsage(reported: Usage, most: MostUsage): Plausible {
  const usage: Usage = {};
  keepTokens(usage, reported, { total: 'inputTokens', parts: partsOfInput, most: most.inputTokens });
  keepOneHour(usage, reported);
  keepTokens(usage, reported, { total: 'outputTokens', parts: partsOfOutput, most: most.outputTokens });
  if (reported.seconds !== undefined && isWithin(reported.seconds, most.seconds)) usage.seconds = reported.seconds;
  let isCorrected = false;
  for (const name in reported) {
    const field = name as keyof Usage;
    if (reported[field] !== usage[field]) isCorrected = true;
  }
  return { usage, isCorrected };
}

interface Side {
  total: 'inputTokens' | 'outputTokens';
  parts: readonly (keyof Usage)[];
  most: number;
}

/** Parts are bounded by the total; without a total, by `most`. */
function keepTokens(usage: Usage, reported: Usage, { total, parts, most }: Side): void {
  const sum = reported[total];
  if (sum !== undefined) {
    if (!isWithin(sum, most)) return;
    usage[total] = Math.ceil(sum);
  }
  for (const name of parts) {
    const part = reported[name];
    if (part !== undefined && isWithin(part, mostOf(name, sum ?? most, usage))) usage[name] = Math.ceil(part);
  }
}

/** What was read from a cache was not written to it. */
function mostOf(name: keyof Usage, total: number, { cachedInputTokens = 0 }: Usage): number {
  return name === 'cacheWriteTokens' ? total - cachedInputTokens : total;
}

function keepOneHour(usage: Usage, { cacheWriteOneHourTokens: part }: Usage): void {
  if (part !== undefined && isWithin(part, usage.cacheWriteTokens ?? 0))
    usage.cacheWriteOneHourTokens = Math.ceil(part);
}

const isWithin = (value: number, max: number) => value >= 0 && value <= max;
