/**
 * Finds members by name in a fragment of JSON, with their depth, in one pass and without parsing: for responses of which
 * only the beginning and the end are kept. Pure.
 */

import type { BoundedPattern } from '../../ground/bounded-pattern.ts';

export interface Member {
  /** 1: a member of the top-level object. */
  level: number;
  start: number;
  /** Offset after its value, if that is an object that ends within the fragment; otherwise null. */
  end: number | null;
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** For the beginning of a document. */
export function membersOfBeginning(bytes: Buffer, name: string): Member[] {
  const start = bytes.indexOf(openBrace);
  return start === -1 ? [] : walk(bytes, name, start).members;
}

/**
 * For the end of a complete document, cut anywhere. The first match that can only be a key shows which parts are
 * strings: in JSON, a quote inside a string follows a backslash. If the document is a list, which is how Gemini streams
 * without `alt=sse`, its objects count as documents, and the list may lack its end.
 */
export function membersOfEnd(bytes: Buffer, name: string): Member[] {
  const key = `"${name}"`;
  let at = bytes.indexOf(key);
  while (at !== -1 && !isKey(bytes, at, at + key.length)) at = bytes.indexOf(key, at + 1);
  if (at === -1) return [];
  const { members, lowest } = walk(bytes, name, at);
  // A document ends at depth 0, whatever depth the walk began at.
  const end = lastByte(bytes) === closeBracket ? lowest + 1 : lowest;
  for (const member of members) member.level -= end;
  return members;
}

function isKey(bytes: Buffer, start: number, end: number): boolean {
  return bytes[start - 1] !== backslash && bytes[skipSpace(bytes, end)] === colon;
}

function lastByte(bytes: Buffer): number | undefined {
  let at = bytes.length - 1;
  while (at > 0 && (bytes[at] ?? 0) <= 0x20) at -= 1;
  return bytes[at];
}

interface Walk {
  members: Member[];
  /** The least depth, relative to the beginning. */
  lowest: number;
}

function walk(bytes: Buffer, name: string, from: number): Walk {
  const key = `"${name}"`;
  const members: Member[] = [];
  /** Members whose value has begun. */
  const open: Member[] = [];
  let depth = 0;
  let lowest = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth < lowest) lowest = depth;
      if (open.at(-1)?.level === depth) (open.pop() as Member).end = at + 1;
    } else if (byte === quote) {
      const end = endOfString(bytes, at);
      const start =
        end - at === key.length && bytes.toString('latin1', at, end) === key ? startOfValue(bytes, end) : -1;
      if (start !== -1) {
        const member: Member = { level: depth, start, end: null };
        members.push(member);
        if (bytes[start] === openBrace) open.push(member);
      }
      at = end - 1;
    }
  }
  return { members, lowest };
}

/** Offset after its closing quote, or after the last byte. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === backslash) at += 1;
    else if (bytes[at] === quote) return at + 1;
  }
  return bytes.length;
}

/** -1 if the string before it is not a key. */
function startOfValue(bytes: Buffer, afterKey: number): number {
  const at = skipSpace(bytes, afterKey);
  return bytes[at] === colon ? skipSpace(bytes, at + 1) : -1;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}

/** How much after a key is examined. */
const valueLength = 300;

interface FoundMember {
  /** The pattern's first group. */
  value: string;
  /** Offset after the key. */
  end: number;
}

/**
 * The first member named `name` at or after `from` whose value matches, in what may be a fragment of JSON. `value` is
 * matched against the text after the key.
 */
export function findMember(text: string, name: string, value: BoundedPattern, from = 0): FoundMember | null {
  const key = `"${name}"`;
  for (let at = text.indexOf(key, from); at !== -1; at = text.indexOf(key, at + key.length)) {
    const end = at + key.length;
    const match = value.exec(text.slice(end, end + valueLength));
    if (match) return { value: match[1] ?? '', end };
  }
  return null;
}
