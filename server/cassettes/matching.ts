/** The compiled rules of `cassette.json`, and the parts of a request that are compared. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { mergeRanges } from '../exchange/redact/find-secrets.ts';
import { maxMatchedLength } from '../ground/bounded-pattern.ts';
import { type CassetteSettings, ignoredByDefault } from './cassette-settings.ts';
import type { RecordedExchange, RecordedRequest } from './format.ts';
import { LinearPattern, type TextRange } from './linear-pattern.ts';

/** The overlap of two windows. A longer match at their border may be found only in part. */
const overlap = 1_024;

/** Texts that clients put into prompts and ids: today's date, the time, a session. */
const changingTexts: readonly RegExp[] = [
  // Does not use `\b`, because Codex puts `msg_` before them.
  /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/gi,
  /\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g,
];

/**
 * Two requests with the same `strict` hash are equal; two with the same `loose` hash are equal except for ignored
 * parts. Recordings with the same `strict` hash are preferred, so that tests that depend on dates or users find their
 * own.
 */
interface MatchKeys {
  strict: string;
  loose: string;
}

export class Matching {
  readonly loose: CanonicalRules;
  /** Patterns of texts to redact, in addition to the known forms of keys. */
  readonly redactions: readonly LinearPattern[];

  constructor({ ignore, compare, ignoreText, redact }: CassetteSettings) {
    const paths = [...ignoredByDefault.filter((path) => !compare.includes(path)), ...ignore];
    const patterns = ignoreText.map((source) => new LinearPattern(source));
    this.loose = {
      ignored: paths.map((path) => path.split('.')),
      text: (text) => {
        const constant = changingTexts.reduce(
          (masked, each) => replaceRanges(masked, findAll(masked, each), '*'),
          text,
        );
        return patterns.reduce((masked, each) => replaceRanges(masked, each.findAll(masked), '*'), constant);
      },
    };
    this.redactions = redact.map((source) => new LinearPattern(source));
  }

  keysOf(request: RecordedRequest): MatchKeys {
    return { strict: hashOf(request, strictRules), loose: hashOf(request, this.loose) };
  }

  /** Hashes of the parts of a request. The more of them two requests share, the more similar they are. */
  partsOf(request: RecordedRequest): Uint32Array {
    const body = comparedBody(request);
    const parts = [`${request.method} ${request.path.split('?')[0]}`, `? ${request.path}`];
    if (typeof body === 'object' && body !== null) {
      for (const [name, value] of Object.entries(body)) {
        const items = Array.isArray(value) ? value.slice(0, maxItems) : [value];
        for (const item of items) parts.push(`${name} ${canonicalJson(item, this.loose)}`);
      }
    }
    return Uint32Array.from(parts.slice(0, maxParts), hashOfText);
  }
}

/** Bounds the memory for each recording. */
const maxParts = 64;
const maxItems = 32;

/** FNV-1a of the text's beginning and its length. */
function hashOfText(text: string): number {
  let hash = 0x811c9dc5 ^ text.length;
  const length = Math.min(text.length, 4_096);
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/**
 * All matches in a text of any length, in order and without overlaps. Each search sees a window of `maxMatchedLength`
 * characters, so that backtracking is bounded. `regexp` needs the flag `g`.
 */
function findAll(text: string, regexp: RegExp): TextRange[] {
  const ranges: TextRange[] = [];
  for (let from = 0; from < text.length; from += maxMatchedLength - overlap) {
    const window = text.slice(from, from + maxMatchedLength);
    for (const match of window.matchAll(regexp)) {
      if (match[0] !== '') ranges.push({ start: from + match.index, end: from + match.index + match[0].length });
    }
    if (from + maxMatchedLength >= text.length) break;
  }
  return mergeRanges(ranges);
}

/** The text with each of the ranges replaced. */
function replaceRanges(text: string, ranges: readonly TextRange[], by: string): string {
  if (ranges.length === 0) return text;
  let at = 0;
  let result = '';
  for (const { start, end } of ranges) {
    result += text.slice(at, start) + by;
    at = end;
  }
  return result + text.slice(at);
}

// The canonical form of a request, which is the same for all equivalent requests.

interface CanonicalRules {
  /** Paths of fields that are omitted. */
  ignored: readonly (readonly string[])[];
  /** Rewrites each text value. */
  text(text: string): string;
}

/** Omits nothing. */
const strictRules: CanonicalRules = { ignored: [], text: (text) => text };

/** SHA-256 of everything that is compared. */
function hashOf(request: RecordedRequest, rules: CanonicalRules): string {
  const hash = createHash('sha256').update(`${request.method} ${rules.text(request.path)}\n`);
  return hash.update(canonicalJson(comparedBody(request), rules)).digest('hex');
}

/**
 * The body in the form that is compared: a form becomes an object of its parts, so that the order of their names does
 * not matter.
 */
export function comparedBody({ body }: RecordedRequest): unknown {
  if (body === null) return null;
  if ('json' in body) return body.json;
  if (!('form' in body)) return body;
  const parts: Record<string, unknown[]> = Object.create(null);
  for (const { name, ...part } of body.form) {
    const existing = parts[name];
    if (existing) existing.push(part);
    else parts[name] = [part];
  }
  return parts;
}

/** JSON with sorted keys, without the fields that the rules omit. */
export function canonicalJson(value: unknown, { ignored, text }: CanonicalRules): string {
  const write = (part: unknown, paths: CanonicalRules['ignored']): string => {
    if (typeof part === 'string') return JSON.stringify(text(part));
    if (typeof part !== 'object' || part === null) return JSON.stringify(part) ?? 'null';
    if (Array.isArray(part)) return `[${part.map((item, index) => write(item, below(paths, String(index)))).join()}]`;
    const members = Object.entries(part)
      .filter(([name]) => !isIgnored(paths, name))
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${write(item, below(paths, name))}`).join()}}`;
  };
  return write(value, ignored);
}

/** The rest of the paths that begin with the member. */
function below(paths: CanonicalRules['ignored'], name: string): CanonicalRules['ignored'] {
  if (paths.length === 0) return paths;
  return paths.filter(([first]) => first === name || first === '*').map((path) => path.slice(1));
}

function isIgnored(paths: CanonicalRules['ignored'], name: string): boolean {
  return paths.some((path) => path.length === 1 && (path[0] === name || path[0] === '*'));
}

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

// What differs between requests, to explain a miss to a person; and between two recordings of one request.

interface Difference {
  /** Such as `messages[1].content`. */
  field: string;
  /** As shortened JSON; `nothing` if the field is missing. */
  recorded: string;
  requested: string;
}

const maxShownLength = 120;

/** Null if they are equal under the rules. */
export function firstDifference(recorded: unknown, requested: unknown, rules: CanonicalRules): Difference | null {
  return differ(recorded, requested, { field: '', rules });
}

interface Place {
  field: string;
  rules: CanonicalRules;
}

function differ(recorded: unknown, requested: unknown, { field, rules }: Place): Difference | null {
  if (canonicalOf(recorded, rules) === canonicalOf(requested, rules)) return null;
  const [recordedMembers, requestedMembers] = [membersOf(recorded), membersOf(requested)];
  if (recordedMembers === null || requestedMembers === null || Array.isArray(recorded) !== Array.isArray(requested)) {
    return {
      field: field === '' ? 'body' : field,
      recorded: shorten(recorded, requested),
      requested: shorten(requested, recorded),
    };
  }
  for (const name of new Set([...recordedMembers.keys(), ...requestedMembers.keys()])) {
    if (isIgnored(rules.ignored, name)) continue;
    const inner = {
      field: nameOf(field, name, Array.isArray(recorded)),
      rules: { ...rules, ignored: below(rules.ignored, name) },
    };
    const difference = differ(recordedMembers.get(name), requestedMembers.get(name), inner);
    if (difference) return difference;
  }
  return null;
}

function canonicalOf(value: unknown, rules: CanonicalRules): string {
  return value === undefined ? '' : canonicalJson(value, rules);
}

function membersOf(value: unknown): Map<string, unknown> | null {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}

function nameOf(field: string, name: string, isItem: boolean): string {
  if (isItem) return `${field}[${name}]`;
  return field === '' ? name : `${field}.${name}`;
}

/** Long texts are shown from shortly before their first difference. */
function shorten(value: unknown, other: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? 'nothing';
  if (text.length <= maxShownLength) return text;
  const otherText = JSON.stringify(other) ?? '';
  let equalLength = 0;
  while (equalLength < text.length && text[equalLength] === otherText[equalLength]) equalLength++;
  const from = Math.max(0, equalLength - maxShownLength / 4);
  const part = text.slice(from, from + maxShownLength);
  return `${from > 0 ? '…' : ''}${part}${from + maxShownLength < text.length ? '…' : ''}`;
}

/** How many characters lie between what two texts have in common at their beginning and their end. */
export function differingLength(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let before = 0;
  while (before < shorter && one[before] === other[before]) before++;
  let after = 0;
  while (after < shorter - before && one.at(-1 - after) === other.at(-1 - after)) after++;
  return Math.max(one.length, other.length) - before - after;
}

/** Whether two recordings of equal requests differ in nothing but the moment of their answers. */
export function saysTheSame(one: RecordedExchange, other: RecordedExchange): boolean {
  return isDeepStrictEqual(essenceOf(one), essenceOf(other));
}

function essenceOf({ request, response, usage }: RecordedExchange): unknown {
  const { wire, headers } = request;
  const answered = Object.entries(response.headers).filter(([name]) => !momentHeaders.has(name));
  const { status, ended, body } = response;
  return { wire, headers, status, ended, answered, usage, body: timeless(body) };
}

/** The date of an answer is in none of them, since it is not recorded. */
const momentHeaders: ReadonlySet<string> = new Set(['x-request-id', 'request-id']);
const moments: ReadonlySet<string> = new Set(['afterMs', 'created', 'created_at', 'completed_at', 'createTime']);

function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => {
    const isMoment = moments.has(name) && ['number', 'string'].includes(typeof member);
    return !isMoment && name !== answerIdOf(value);
  });
  return Object.fromEntries(members.map(([name, member]) => [name, timeless(member)]));
}

/** The member that is an answer's own id, where no later request can name it; those of calls and responses are sent back. */
function answerIdOf(answer: object): string | null {
  if ('candidates' in answer) return 'responseId';
  const isChat = 'object' in answer && /^(?:chat|text)[._]completion/.test(String(answer.object));
  return isChat || 'stop_reason' in answer ? 'id' : null;
}
