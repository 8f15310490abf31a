/**
 * Regular expressions that somebody else has written, such as those of a repository's `cassette.json`. RE2 follows all
 * alternatives at once instead of trying one after the other, so that a search takes a time that grows with the text.
 * Many searches in one text may still each look at all that is left of it; the time for all of them is bounded.
 */
import { RE2JS, RE2JSException } from 're2js';
import { GatewayError } from '../contract/errors.ts';
import { toRe2, UnsupportedPattern } from './translate-pattern.ts';

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
