/** Reads and writes JSON so that integers in a tool's arguments keep all their digits. */
import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';

/** Stands for a `RawJson` while V8 writes the rest. Nobody outside the process knows it, so no text of a client has it. */
const rawMark = randomUUID();
const quotedRawMark = `"${rawMark}"`;

/** What the marks of the text that is being written stand for, in their order. */
let rawTexts: string[] = [];

/** JSON text that is written unchanged by `writeJson`. */
export class RawJson {
  readonly text: string;

  /** @param text valid JSON */
  constructor(text: string) {
    this.text = text;
  }

  /** Called by `JSON.stringify`. */
  toJSON(): string {
    rawTexts.push(this.text);
    return rawMark;
  }
}

/** Deeper nesting is refused; no legitimate request, schema or answer has it. */
const maxReadDepth = 400;

/**
 * Like `JSON.stringify`, but writes `RawJson` unchanged, and what is no JSON at all as null.
 * @throws GatewayError `invalid_value` for nesting beyond what V8 can write
 */
export function writeJson(value: unknown): string {
  rawTexts = [];
  const text = stringify(value);
  const raw = rawTexts;
  return raw.length === 0 ? text : text.split(quotedRawMark).reduce((before, part, at) => before + raw[at - 1] + part);
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    // Of the stack; what is read is refused before it can become so deep.
    throw error instanceof RangeError ? tooDeep() : error;
  }
}

/** Whether a value is nested deeper than what may be read, so that it could not be written again. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > maxReadDepth) return true;
  if (Array.isArray(value)) return value.some((item) => isTooDeep(item, depth + 1));
  for (const name in value) if (isTooDeep(value[name as keyof typeof value], depth + 1)) return true;
  return false;
}

/** @throws GatewayError `invalid_value` for nesting beyond the limit */
export function refuseTooDeep(value: unknown): void {
  if (isTooDeep(value)) throw tooDeep();
}

function tooDeep(): GatewayError {
  return new GatewayError('invalid_value', `The body is nested more than ${maxReadDepth} levels deep.`);
}

/** Undefined if the text is not JSON. */
export function parseLosslessJson(text: string): unknown {
  try {
    const value: unknown = hasLongNumber(text) ? JSON.parse(text, keepNumber) : JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Integers with more digits than a double can hold. A reviver is too slow to be used unnecessarily. */
const longNumber = /[:,[\s]-?\d{16}/;

/** A plain sequence, at which V8 skips most of a text without numbers. A choice at its start makes it look at each character. */
const sixteenDigits = /\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d/;

function hasLongNumber(text: string): boolean {
  return sixteenDigits.test(text) && longNumber.test(text);
}

/** `context`, which TypeScript's types lack, is passed by V8 and contains the source of a primitive. */
function keepNumber(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (!Number.isInteger(value) || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return String(value) === context.source ? value : new RawJson(context.source);
}

/**
 * A text that arrives in pieces. Pieces given as the inside of a JSON string are decoded together, and only if the text
 * is read.
 */
export class GrowingText {
  #text = '';
  #escaped = '';

  add(text: string): void {
    this.#decode();
    this.#text += text;
  }

  /** @param escaped the inside of a JSON string */
  addEscaped(escaped: string): void {
    this.#escaped += escaped;
  }

  get text(): string {
    this.#decode();
    return this.#text;
  }

  get isEmpty(): boolean {
    return this.#text === '' && this.#escaped === '';
  }

  /** In characters. An escape counts as several until it is decoded. */
  get length(): number {
    return this.#text.length + this.#escaped.length;
  }

  #decode(): void {
    if (this.#escaped === '') return;
    this.#text += String(JSON.parse(`"${this.#escaped}"`));
    this.#escaped = '';
  }
}

/** The inside of the JSON string that represents this text. */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Where the texts of an answer's parts begin in all of its text, for APIs whose citations count within one part. */
export class TextParts<Part> {
  readonly #parts: { part: Part; start: number }[] = [];
  #length = 0;

  begin(part: Part): void {
    this.#parts.push({ part, start: this.#length });
  }

  /** The latest text has grown by this length, in whatever unit the API counts. */
  add(length: number): void {
    this.#length += length;
  }

  /** The part with this place, or the last one if the place is unknown. Undefined if there are none. */
  at(place: number | null): { part: Part; start: number } | undefined {
    let low = 0;
    let high = this.#parts.length - 1;
    if (place === null) return this.#parts[high];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#parts[middle]?.start ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return this.#parts[low];
  }
}

/** `list.push(...more)` for lists from untrusted sources, which might overflow the stack as arguments. */
export function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}
