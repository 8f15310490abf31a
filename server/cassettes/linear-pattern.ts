/**
 * Regular expressions that somebody else has written, such as those of a repository's `cassette.json`. RE2 follows all
 * alternatives at once instead of trying one after the other, so that a search takes a time that grows with the text.
 * Many searches in one text may still each look at all that is left of it; the time for all of them is bounded.
 */
import { RE2JS, RE2JSException } from 're2js';
import { GatewayError } from '../contract/errors.ts';

export interface TextRange {
  start: number;
  end: number;
}

/** What a search sees at once. */
const windowLength = 4_096;
/** A longer match may be found only in part. */
const maxMatchLength = 1_024;

/** What all searches may take together. An ordinary pattern takes less than a quarter of it in its first text. */
const msPerCharacter = 0.003;
const leastMs = 400;

export class LinearPattern {
  readonly source: string;
  readonly #pattern: RE2JS;
  #msLeft = leastMs;

  /** @throws SyntaxError or UnsupportedPattern */
  constructor(source: string) {
    this.source = source;
    this.#pattern = compiled(source);
  }

  /**
   * All matches that are not empty, in order.
   * @throws SlowPattern
   */
  findAll(text: string): TextRange[] {
    if (this.#msLeft < 0) throw new SlowPattern(this.source);
    this.#msLeft = Math.min(this.#msLeft, leastMs) + text.length * msPerCharacter;
    const ranges: TextRange[] = [];
    for (let from = 0; from < text.length; ) {
      const end = characterStart(text, from + windowLength);
      const last = end < text.length ? characterStart(text, end - maxMatchLength) : end;
      from = Math.max(last, this.#findBetween(text, { start: from, end }, last, ranges));
    }
    return ranges;
  }

  /** Null if it takes too many steps. */
  tryFindAll(text: string): TextRange[] | null {
    try {
      return this.findAll(text);
    } catch (error) {
      if (error instanceof SlowPattern) return null;
      throw error;
    }
  }

  /** Adds the matches that begin before `last`. Returns where the last one ends. */
  #findBetween(text: string, { start, end }: TextRange, last: number, ranges: TextRange[]): number {
    // With the character before, which decides about `^` and `\b`.
    const offset = Math.max(start - 1, 0);
    const matcher = this.#pattern.matcher(text.slice(offset, end));
    let at = start;
    for (let isFound = this.#timed(() => matcher.find(start - offset)); isFound; ) {
      const range = { start: offset + matcher.start(), end: offset + matcher.end() };
      if (range.start >= last) break;
      if (range.end > range.start) ranges.push(range);
      at = range.end;
      isFound = this.#timed(() => matcher.find());
    }
    return at;
  }

  #timed(search: () => boolean): boolean {
    // The thread's own time: a pattern is not blamed for a pause of the process or a busy machine.
    const before = process.threadCpuUsage();
    const isFound = search();
    const { user, system } = process.threadCpuUsage(before);
    this.#msLeft -= (user + system) / 1_000;
    if (this.#msLeft < 0) throw new SlowPattern(this.source);
    return isFound;
  }
}

/** A pattern took longer than a text of that length may take. */
class SlowPattern extends GatewayError {
  constructor(source: string) {
    const message = `The pattern ${JSON.stringify(source)} of cassette.json takes too many steps, because its matches can begin at every character. Begin it with a fixed text.`;
    super('cassette_unusable', message);
  }
}

function compiled(source: string): RE2JS {
  const translated = toRe2(source);
  try {
    return RE2JS.compile(translated);
  } catch (error) {
    throw error instanceof RE2JSException ? new UnsupportedPattern(error.message) : error;
  }
}

/** Not between the halves of a pair. */
function characterStart(text: string, at: number): number {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}

// Regular expressions of JavaScript with the flag `u` in the syntax of RE2
// (https://github.com/google/re2/wiki/Syntax). RE2JS has a translation of its own, but it makes a `k` of `\k`, and
// leaves `.`, `\s` and pairs of `\u` with another meaning than in JavaScript.

/** A pattern that JavaScript accepts and RE2 does not. */
export class UnsupportedPattern extends Error {}

/** With counted repetitions written out, as RE2 does: it accepts a thousand times as many, which take a second to read. */
const maxLength = 500;

const escapes = /\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|\\(?:u\{\w*\}|u\w{4}|x\w\w|c.|[pP]\{[^}]*\}|.)/su;
const tokensOfClass = new RegExp(`${escapes.source}|.`, 'gsu');
const tokens = new RegExp(
  `\\[(?:\\\\.|[^\\]\\\\])*\\]|\\(\\?(?:<?[=!]|<[^>]*>|[ims-]*:)|\\{[\\d,]*\\}|${tokensOfClass.source}`,
  'gsu',
);

const lineEnds = '\\n\\r\\x{2028}\\x{2029}';
const spaces = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
/** All but `spaces`. */
const others =
  '\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';

/** @throws SyntaxError, or UnsupportedPattern */
function toRe2(source: string): string {
  new RegExp(source, 'u');
  const parts = source.match(tokens) ?? [];
  if (lengthWrittenOut(parts) > maxLength) throw new UnsupportedPattern('it is too long');
  return parts.map(translated).join('');
}

function lengthWrittenOut(parts: readonly string[]): number {
  const ofGroups = [0];
  let last = 0;
  for (const part of parts) {
    if (part.startsWith('(')) {
      ofGroups.push(1);
      continue;
    }
    const counts = /^\{(\d+)(?:,(\d*))?\}$/.exec(part);
    const added = counts ? last * (Math.max(Number(counts[1]), Number(counts[2] ?? 0)) - 1) : 1;
    if (!counts) last = part === ')' ? (ofGroups.pop() ?? 0) : 1;
    ofGroups.push((ofGroups.pop() ?? 0) + (part === ')' ? last : added));
  }
  return ofGroups[0] ?? 0;
}

function translated(part: string): string {
  if (/^\(\?<?[=!]/.test(part)) throw new UnsupportedPattern('it looks around');
  if (/^\\[1-9k]/.test(part)) throw new UnsupportedPattern('it refers back to a group');
  if (/^\(\?[ims-]+:/.test(part)) throw new UnsupportedPattern('it changes flags inside');
  if (part.startsWith('(')) return '(?:';
  if (part === '.') return `[^${lineEnds}]`;
  if (part === '\\s') return `[${spaces}]`;
  if (part === '\\S') return `[^${spaces}]`;
  return part.startsWith('[') ? translatedClass(part) : translatedEscape(part);
}

function translatedClass(part: string): string {
  if (part === '[]') return '[^\\x00-\\x{10ffff}]';
  if (part === '[^]') return '[\\x00-\\x{10ffff}]';
  const inside = part.slice(1, -1).replaceAll(tokensOfClass, (each) => {
    if (each === '[') return '\\[';
    if (each === '\\b') return '\\x08';
    if (each === '\\s') return spaces;
    return each === '\\S' ? others : translatedEscape(each);
  });
  return `[${inside}]`;
}

function translatedEscape(part: string): string {
  const [, control] = /^\\c(.)$/.exec(part) ?? [];
  if (control) return inHex(control.charCodeAt(0) % 32);
  if (/^\\[ux]/.test(part)) return inHex(codePointOf(part));
  return part.replace(/^(\\[pP]\{)(?:Script|sc|General_Category|gc)=/, '$1');
}

/** Of `\x41`, `\u0041`, `\u{41}` or `\ud83d\ude00`. */
function codePointOf(part: string): number {
  const units = (part.match(/[\da-fA-F]+/g) ?? []).map((digits) => Number.parseInt(digits, 16));
  return units.length === 1 ? (units[0] ?? 0) : (String.fromCharCode(...units).codePointAt(0) ?? 0);
}

function inHex(code: number): string {
  return `\\x{${code.toString(16)}}`;
}
