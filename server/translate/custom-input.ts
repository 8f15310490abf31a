/**
 * The input of a custom tool that was offered as a function: out of `{"input": "…"}` the text alone, as it comes. What does
 * not begin so is told as a whole at its end.
 */
import { isObject } from '../contract/is-object.ts';
import { entryOf } from '../wire/table-entry.ts';
import { parseJson } from './json-text.ts';

/** The one text of a whole call. */
export function customInput(given: string): string {
  const value = parseJson(given);
  return isObject(value) && typeof value.input === 'string' ? value.input : given;
}

/** It began as JSON and broke off, so that its text is only a part. Models also write the text without any JSON. */
export function isCutInput(given: string): boolean {
  return given.trimStart().startsWith('{') && !isObject(parseJson(given));
}

/** Of the blanks before the text; whoever writes more is told in the end. */
const maxBeginning = 200;

const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export class CustomInputReader {
  #state: 'before' | 'inside' | 'after' | 'other' = 'before';
  /** What cannot be told yet: the beginning, an escape that is not whole, one half of a surrogate pair. */
  #held = '';

  /** The next of the text. */
  push(fragment: string): string {
    if (this.#state === 'other' || this.#state === 'after') return '';
    const text = this.#held + fragment;
    if (this.#state === 'inside') return this.#readInside(text, 0);
    const start = startOfText(text);
    if (start === 'unknown' && text.length <= maxBeginning) this.#held = text;
    else if (typeof start === 'string') this.#state = 'other';
    else {
      this.#state = 'inside';
      return this.#readInside(text, start);
    }
    return '';
  }

  /** Nothing of it has been told. */
  get isUntold(): boolean {
    return this.#state === 'before' || this.#state === 'other';
  }

  #readInside(text: string, start: number): string {
    let read = '';
    let at = start;
    while (at < text.length) {
      const character = text.charAt(at);
      if (character === '"') {
        this.#state = 'after';
        break;
      }
      const length = character !== '\\' ? 1 : text.charAt(at + 1) === 'u' ? 6 : 2;
      if (at + length > text.length) break;
      read += length === 1 ? character : unescaped(text.slice(at + 1, at + length));
      at += length;
    }
    this.#held = this.#state === 'after' ? '' : text.slice(at);
    return this.#withoutHalf(read);
  }

  /** Alone it would be written as a replacement character. */
  #withoutHalf(text: string): string {
    const last = text.charCodeAt(text.length - 1);
    if (this.#state === 'after' || !(last >= 0xd800 && last < 0xdc00)) return text;
    this.#held = `\\u${last.toString(16)}${this.#held}`;
    return text.slice(0, -1);
  }
}

/** @param code what stands after the backslash */
function unescaped(code: string): string {
  if (code.startsWith('u')) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
  return entryOf(escapes, code) ?? code;
}

const opening = ['{', '"input"', ':', '"'];

/** Where the text begins after `{"input":"`; `unknown` where too little has come to tell. */
function startOfText(text: string): number | 'unknown' | 'other' {
  let at = 0;
  for (const token of opening) {
    while (at < text.length && ' \n\r\t'.includes(text.charAt(at))) at++;
    const found = text.slice(at, at + token.length);
    if (found !== token) return token.startsWith(found) ? 'unknown' : 'other';
    at += token.length;
  }
  return at;
}
