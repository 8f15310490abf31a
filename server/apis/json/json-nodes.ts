/**
 * Reads the members and elements of one value where it stands in a document, without parsing it, and leaves some of
 * them out. For values of a document that is known to be valid JSON.
 */

import type { JsonEdit } from './json-peek.ts';
import { type ByteRange, isEscaped, skipScalar, skipSpace } from './json-scan.ts';

/** Half open, from its key on. */
export interface JsonMember extends ByteRange {
  name: string;
  value: ByteRange;
}

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const openArray = 0x5b;
const backslash = 0x5c;
const closeArray = 0x5d;
const letterN = 0x6e;
const openObject = 0x7b;
const closeObject = 0x7d;

export function isObjectAt(body: Buffer, { start }: ByteRange): boolean {
  return body[start] === openObject;
}

export function isListAt(body: Buffer, { start }: ByteRange): boolean {
  return body[start] === openArray;
}

export function isNullAt(body: Buffer, { start }: ByteRange): boolean {
  return body[start] === letterN;
}

/** None if the value is no object. */
export function* membersOf(body: Buffer, object: ByteRange): Generator<JsonMember, void, undefined> {
  if (!isObjectAt(body, object)) return;
  let at = skipSpace(body, object.start + 1);
  while (body[at] === quote) {
    const afterKey = endOfText(body, at);
    const valueStart = skipSpace(body, skipSpace(body, afterKey) + 1);
    const value = { start: valueStart, end: endOfValue(body, valueStart) };
    yield { name: textIn(body, { start: at, end: afterKey }) ?? '', start: at, end: value.end, value };
    at = skipSpace(body, value.end);
    if (body[at] !== comma) return;
    at = skipSpace(body, at + 1);
  }
}

/** None if the value is no list. */
export function* elementsOf(body: Buffer, list: ByteRange): Generator<ByteRange, void, undefined> {
  if (isListAt(body, list)) yield* elementsFrom(body, list.start + 1);
}

/** The elements of a list that come after the one that ends at `end`. */
export function* elementsAfter(body: Buffer, end: number): Generator<ByteRange, void, undefined> {
  const at = skipSpace(body, end);
  if (body[at] === comma) yield* elementsFrom(body, at + 1);
}

function* elementsFrom(body: Buffer, at: number): Generator<ByteRange, void, undefined> {
  let start = skipSpace(body, at);
  while (start < body.length && body[start] !== closeArray) {
    const end = endOfValue(body, start);
    yield { start, end };
    const next = skipSpace(body, end);
    if (body[next] !== comma) return;
    start = skipSpace(body, next + 1);
  }
}

/** Null if the value is no string, or not a valid one. */
export function textIn(body: Buffer, { start, end }: ByteRange): string | null {
  if (body[start] !== quote) return null;
  const inside = body.subarray(start + 1, end - 1);
  if (!inside.includes(backslash)) return inside.toString();
  try {
    return String(JSON.parse(body.toString('utf8', start, end)));
  } catch {
    return null;
  }
}

/** Offset after the value that begins at `start`. */
export function endOfValue(body: Buffer, start: number): number {
  const first = body[start];
  if (first === quote) return endOfText(body, start);
  if (first !== openObject && first !== openArray) return skipScalar(body, start);
  let depth = 0;
  for (let at = start; at < body.length; at++) {
    const byte = body[at];
    if (byte === quote) at = endOfText(body, at) - 1;
    else if (byte === openObject || byte === openArray) depth++;
    else if ((byte === closeObject || byte === closeArray) && --depth === 0) return at + 1;
  }
  return body.length;
}

/** Offset after the closing quote. */
function endOfText(body: Buffer, start: number): number {
  let at = body.indexOf(quote, start + 1);
  while (at !== -1 && isEscaped(body, start + 1, at)) at = body.indexOf(quote, at + 1);
  return at === -1 ? body.length : at + 1;
}

/**
 * Leaves elements of a list, or members of an object, out of a document, with the commas that separate them from the
 * others. `ranges` are in order.
 */
export function removals(body: Buffer, ranges: readonly ByteRange[]): JsonEdit[] {
  const edits: JsonEdit[] = [];
  for (let index = 0; index < ranges.length; index++) {
    const start = ranges[index]?.start ?? 0;
    let next = afterComma(body, ranges[index]?.end ?? 0);
    while (next !== null && ranges[index + 1]?.start === next) next = afterComma(body, ranges[++index]?.end ?? 0);
    const end = ranges[index]?.end ?? 0;
    const before = lastOf(body, start);
    if (next !== null) edits.push({ start, end: next, text: '' });
    else edits.push({ start: body[before] === comma ? before : start, end, text: '' });
  }
  return edits;
}

/** Offset of the last byte before `end` that is not white space. */
function lastOf(body: Buffer, end: number): number {
  let at = end - 1;
  while ((body[at] ?? quote) <= space) at--;
  return at;
}

/** Where the value after the next comma begins; null if there is none. */
function afterComma(body: Buffer, end: number): number | null {
  const at = skipSpace(body, end);
  return body[at] === comma ? skipSpace(body, at + 1) : null;
}

const colon = 0x3a;
const openList = 0x5b;

/**
 * Counts JSON values without parsing them, for an estimate of the memory that parsing would take.
 *
 * At least the number of values in a text that contains JSON: each one follows a comma, a colon or a bracket.
 */
export function countValues(text: Buffer): number {
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at + 1);
    else if (byte === comma || byte === colon || byte === openList || byte === openObject) values++;
  }
  return values;
}

/** The offset of the closing quote, or the end of the text. */
function endOfString(text: Buffer, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1;
  return at;
}
