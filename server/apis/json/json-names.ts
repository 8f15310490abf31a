/**
 * Names of top-level keys to look for, and how a key may spell one of them. Parsers differ: Go's `encoding/json` ignores
 * case (documented at `Unmarshal`) and folds `ſ` to s and the Kelvin sign to k; others accept escapes that JSON does not define.
 */

const backslash = 0x5c;
const underscore = 0x5f;
/** Length of the longest spelling of one character: `\u006d`. */
const escapedLength = 6;

interface Spelling {
  name: string;
  /** `JSON.parse` reads it as the name. */
  isSame: boolean;
  /** Spelled letter by letter, so that all parsers agree. */
  isPlain: boolean;
}

export class JsonNames {
  /** Plain spellings, by length. */
  readonly #byLength: Spelling[][] = [];
  readonly #byName = new Map<string, Spelling>();
  readonly #maxKeyBytes: number;

  /** `names` consist of lowercase ASCII letters and underscores; of others only the plain spelling is found. */
  constructor(names: readonly string[]) {
    for (const name of names) {
      const spelling = { name, isSame: true, isPlain: true };
      this.#byName.set(name, spelling);
      const alike = this.#byLength[name.length];
      if (alike) alike.push(spelling);
      else this.#byLength[name.length] = [spelling];
    }
    this.#maxKeyBytes = Math.max(0, ...names.map((name) => name.length)) * escapedLength;
  }

  /** How the key between `start` and `end` spells one of the names; undefined if it is another key. */
  find(body: Buffer, start: number, end: number): Spelling | undefined {
    if (end - start > this.#maxKeyBytes) return undefined;
    const alike = this.#byLength[end - start];
    if (alike) {
      for (const spelling of alike) {
        const likeness = compare(body, start, spelling.name);
        if (likeness === 'same') return spelling;
        if (likeness === 'other case') return { ...spelling, isSame: false, isPlain: false };
      }
    }
    return hasOddity(body, start, end) ? this.#findSpelled(body.toString('utf8', start, end)) : undefined;
  }

  #findSpelled(key: string): Spelling | undefined {
    const { text, isSound } = decode(key);
    const exact = this.#byName.get(text);
    // Both directions, so that characters that only fold to a letter become that letter.
    const found = exact ?? this.#byName.get(text.toUpperCase().toLowerCase());
    return found && { name: found.name, isSame: exact !== undefined && isSound, isPlain: false };
  }
}

/** Reads invalid escapes as lenient parsers do, `\l` as l; the result is then not sound. */
function decode(key: string): { text: string; isSound: boolean } {
  let text = '';
  let isSound = true;
  for (let at = 0; at < key.length; at++) {
    if (key[at] !== '\\') {
      text += key[at];
      continue;
    }
    at++;
    const code = key[at] === 'u' ? Number(`0x${key.slice(at + 1, at + 5)}`) : Number.NaN;
    isSound &&= !Number.isNaN(code);
    text += Number.isNaN(code) ? (key[at] ?? '') : String.fromCharCode(code);
    if (!Number.isNaN(code)) at += 4;
  }
  return { text, isSound };
}

function compare(body: Buffer, start: number, name: string): 'same' | 'other case' | 'different' {
  let isSame = true;
  for (let index = 0; index < name.length; index++) {
    const byte = body[start + index] ?? 0;
    const wanted = name.charCodeAt(index);
    if (byte === wanted) continue;
    if ((byte | 0x20) !== wanted || wanted === underscore) return 'different';
    isSame = false;
  }
  return isSame ? 'same' : 'other case';
}

/** Escapes or non-ASCII bytes. */
function hasOddity(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = body[at] ?? 0;
    if (byte === backslash || byte > 0x7f) return true;
  }
  return false;
}
