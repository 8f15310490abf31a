/**
 * Parses the regular expressions of `cassette.json` for `linear-pattern.ts`: those of JavaScript with the flag `u`,
 * without back-references and look-around, which need backtracking.
 */

export type PatternNode =
  /** `literal`: the only character that matches, if it is written as itself. */
  | { kind: 'character'; matches: (character: string) => boolean; literal?: string }
  | { kind: 'assertion'; assertion: Assertion }
  | { kind: 'sequence'; parts: PatternNode[] }
  | { kind: 'choice'; parts: PatternNode[] }
  | { kind: 'repeat'; part: PatternNode; least: number; most: number; isGreedy: boolean };

/** `^`, `$`, `\b`, `\B`. */
export type Assertion = 'start' | 'end' | 'boundary' | 'inside';

export class UnsupportedPattern extends Error {}

/** @throws SyntaxError, or UnsupportedPattern */
export function parsePattern(source: string): PatternNode {
  // Only valid patterns are read below.
  new RegExp(source, 'u');
  return new PatternParser(source).parse();
}

class PatternParser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): PatternNode {
    return this.#choice();
  }

  #choice(): PatternNode {
    const parts = [this.#sequence()];
    while (this.#takes('|')) parts.push(this.#sequence());
    return { kind: 'choice', parts };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#next)) parts.push(this.#quantified());
    return { kind: 'sequence', parts };
  }

  #quantified(): PatternNode {
    const part = this.#atom();
    const count = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(this.#source.slice(this.#at));
    if (!count) return part;
    this.#at += count[0].length;
    const [least, most] = rangeOf(count);
    return { kind: 'repeat', part, least, most, isGreedy: !this.#takes('?') };
  }

  #atom(): PatternNode {
    const next = this.#next;
    if (this.#takes('(')) return this.#group();
    if (this.#takes('^')) return { kind: 'assertion', assertion: 'start' };
    if (this.#takes('$')) return { kind: 'assertion', assertion: 'end' };
    if (next === '[') return this.#characters(/^\[(?:\\.|[^\]\\])*\]/su);
    if (next === '\\') return this.#escape();
    const literal = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    const node = this.#characters(/^./su);
    return next === '.' ? node : { ...node, literal };
  }

  #group(): PatternNode {
    if (/^\?(?:[=!]|<[=!])/.test(this.#source.slice(this.#at))) throw new UnsupportedPattern('it looks around');
    if (/^\?[ims-]*:/.test(this.#source.slice(this.#at)) && !this.#source.startsWith('?:', this.#at))
      throw new UnsupportedPattern('it changes flags inside');
    const [beginning = ''] = /^\?(?::|<[^>]*>)/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += beginning.length;
    const inside = this.#choice();
    this.#takes(')');
    return inside;
  }

  #escape(): PatternNode {
    const rest = this.#source.slice(this.#at);
    if (/^\\(?:[1-9]|k<)/.test(rest)) throw new UnsupportedPattern('it refers back to a group');
    if (rest.startsWith('\\b') || rest.startsWith('\\B')) {
      this.#at += 2;
      return { kind: 'assertion', assertion: rest.startsWith('\\b') ? 'boundary' : 'inside' };
    }
    return this.#characters(
      /^\\(?:u\{[^}]*\}|u[dD][89abAB]\w{2}\\u[dD][c-fC-F]\w{2}|u\w{4}|x\w{2}|c.|[pP]\{[^}]*\}|.)/su,
    );
  }

  /** JavaScript itself decides which characters a class or an escape stands for. */
  #characters(extent: RegExp): Extract<PatternNode, { kind: 'character' }> {
    const [text = ''] = extent.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += text.length;
    const single = new RegExp(`^${text}$`, 'u');
    const inAscii = Array.from({ length: 128 }, (_, code) => single.test(String.fromCharCode(code)));
    const matches = (character: string) => {
      const code = character.charCodeAt(0);
      return code < 128 ? inAscii[code] === true : single.test(character);
    };
    return { kind: 'character', matches };
  }

  get #next(): string {
    return this.#source.charAt(this.#at);
  }

  #takes(sign: string): boolean {
    if (this.#next !== sign) return false;
    this.#at++;
    return true;
  }
}

function rangeOf([sign, least, comma, most]: RegExpExecArray): [least: number, most: number] {
  if (sign === '*') return [0, Number.POSITIVE_INFINITY];
  if (sign === '+') return [1, Number.POSITIVE_INFINITY];
  if (sign === '?') return [0, 1];
  if (comma === undefined) return [Number(least), Number(least)];
  return [Number(least), most ? Number(most) : Number.POSITIVE_INFINITY];
}
