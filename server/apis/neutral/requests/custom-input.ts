/**
 * Extracts the input of a custom tool that was offered as a function: the text in `{"input": "…"}`, while it arrives.
 * Arguments with any other beginning are passed on as a whole at their end.
 */
import { isObject } from '../../../contract/is-object.ts';
import { entryOf } from '../../core/table-entry.ts';
import { parseLosslessJson } from '../json-text.ts';

/** The text of a complete call. */
export function customInput(callArguments: string): string {
  const value = parseLosslessJson(callArguments);
  return isObject(value) && typeof value.input === 'string' ? value.input : callArguments;
}

/**
 * Whether the arguments began as JSON and were cut off, so that the text is incomplete. Models also write text without
 * any JSON.
 */
export function isCutInput(callArguments: string): boolean {
  return callArguments.trimStart().startsWith('{') && !isObject(parseLosslessJson(callArguments));
}

/** Maximum white space before the text; beyond it the arguments are passed on at their end. */
const maxBeginning = 200;

const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export class CustomInputReader {
  #state: 'before' | 'inside' | 'after' | 'other' = 'before';
  /** Characters that cannot be passed on yet: the beginning, an incomplete escape, or half of a surrogate pair. */
  #pending = '';

  /** Returns the next piece of the text. */
  push(fragment: string): string {
    if (this.#state === 'other' || this.#state === 'after') return '';
    const text = this.#pending + fragment;
    if (this.#state === 'inside') return this.#readInside(text, 0);
    const start = startOfText(text);
    if (start === 'unknown' && text.length <= maxBeginning) this.#pending = text;
    else if (typeof start === 'string') this.#state = 'other';
    else {
      this.#state = 'inside';
      return this.#readInside(text, start);
    }
    return '';
  }

  /** Whether no part of the text has been returned yet. */
  get hasReturnedNothing(): boolean {
    return this.#state === 'before' || this.#state === 'other';
  }

  #readInside(text: string, start: number): string {
    let decoded = '';
    let at = start;
    while (at < text.length) {
      const character = text.charAt(at);
      if (character === '"') {
        this.#state = 'after';
        break;
      }
      const length = character !== '\\' ? 1 : text.charAt(at + 1) === 'u' ? 6 : 2;
      if (at + length > text.length) break;
      decoded += length === 1 ? character : unescaped(text.slice(at + 1, at + length));
      at += length;
    }
    this.#pending = this.#state === 'after' ? '' : text.slice(at);
    return this.#withoutHalf(decoded);
  }

  /** Holds back an unpaired surrogate, which would be encoded as a replacement character. */
  #withoutHalf(text: string): string {
    const last = text.charCodeAt(text.length - 1);
    if (this.#state === 'after' || !(last >= 0xd800 && last < 0xdc00)) return text;
    this.#pending = `\\u${last.toString(16)}${this.#pending}`;
    return text.slice(0, -1);
  }
}

/** @param code the characters after the backslash */
function unescaped(code: string): string {
  if (code.startsWith('u')) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
  return entryOf(escapes, code) ?? code;
}

const opening = ['{', '"input"', ':', '"'];

/** The offset at which the text begins, after `{"input":"`; `unknown` if too little has arrived to decide. */
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
