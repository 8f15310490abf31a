/**
 * Finds known secrets in what somebody else wrote: as they are, escaped (`\u0041` as in JSON, `%41` as in an address,
 * `&#65;` as in HTML, one within the other up to three deep), and in base64 wherever they begin in it. Its cost grows with
 * the length of the text.
 */
import type { ByteRange } from '../wire/json/json-scan.ts';
import { escapeLength, noEscape, readEscape, writeCharacter } from './read-escape.ts';

/** Shorter ones (`none`, `ollama`) are no secrets, and stand in many a text by chance. */
const minSecretLength = 8;
/** How deep escapes within escapes are undone. */
const maxDepth = 3;
const isAscii = /^[\x20-\x7e]*$/;
/** ASCII without `%`, `&` and the backslash. */
const isUnescaped = /^[ -$'-[\]-~]*$/;

/** A way to read some bytes. */
interface Reading {
  bytes: Buffer;
  /** Where each of them begins in the text, and where the text ends. Null: they are the text. */
  starts: Uint32Array | null;
}

/** Where one of the secrets stands, in order and without overlaps. */
export function findSecrets(text: Buffer, secrets: readonly string[]): ByteRange[] {
  const forms = secrets.filter(isSecret).flatMap(formsOf);
  const found: ByteRange[] = [];
  let reading: Reading | null = forms.length > 0 ? { bytes: text, starts: null } : null;
  for (let depth = 0; reading && depth <= maxDepth; depth++) {
    for (const form of forms) findForm(reading, form, found);
    reading = depth < maxDepth ? undoEscapes(reading) : null;
  }
  return merge(found);
}

/** Whether one of the secrets stands in a header, an address or a name. */
export function containsSecret(text: string, secrets: readonly string[]): boolean {
  return mayHoldSecret(text, secrets) && findSecrets(Buffer.from(text), secrets).length > 0;
}

/** Cheap enough to be asked of each header: a no is certain. */
export function mayHoldSecret(text: string, secrets: readonly string[]): boolean {
  for (const secret of secrets) {
    // In base64 a secret is longer than it is.
    if (!isSecret(secret) || secret.length > text.length) continue;
    if (text.includes(secret) || !isUnescaped.test(text) || longestRun(text) >= secret.length) return true;
  }
  return false;
}

function longestRun(text: string): number {
  let longest = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (isBase64(text.charCodeAt(at))) continue;
    longest = Math.max(longest, at - start);
    start = at + 1;
  }
  return longest;
}

/** In either alphabet of base64. */
function isBase64(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  // Digits with `/` before them, `+`, `-`, `_`.
  return isLetter || (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x5f;
}

function isSecret(secret: string): boolean {
  return secret.length >= minSecretLength;
}

/** A secret from a header is a string of bytes, which may be those of UTF-8 or of latin1. */
function formsOf(secret: string): Buffer[] {
  const readings = isAscii.test(secret) ? [Buffer.from(secret)] : [Buffer.from(secret), Buffer.from(secret, 'latin1')];
  return readings.flatMap((bytes) => [bytes, ...base64Forms(bytes)]);
}

/** What is the same in base64 of all texts that hold the secret: it may begin at any of three places of a group. */
function base64Forms(secret: Buffer): Buffer[] {
  const forms = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), secret]).toString('base64');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + secret.length) * 8) / 6));
  });
  const inAddresses = forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...forms, ...inAddresses])].map((form) => Buffer.from(form));
}

function findForm({ bytes, starts }: Reading, form: Buffer, found: ByteRange[]): void {
  let at = bytes.indexOf(form);
  while (at !== -1) {
    const end = at + form.length;
    found.push({ start: starts?.[at] ?? at, end: starts?.[end] ?? end });
    at = bytes.indexOf(form, end);
  }
}

/** The text with its escapes undone once; null if there are none. */
function undoEscapes({ bytes, starts }: Reading): Reading | null {
  if (!bytes.includes('\\') && !bytes.includes('%') && !bytes.includes('&#')) return null;
  // What an escape stands for is never longer than itself.
  const plain = Buffer.allocUnsafe(bytes.length);
  const plainStarts = new Uint32Array(bytes.length + 1);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const found = readEscape(bytes, at);
    const next = at + Math.max(1, escapeLength(found));
    const end = found === noEscape ? copyByte(bytes, at, plain, length) : writeCharacter(plain, length, found);
    while (length < end) plainStarts[length++] = starts?.[at] ?? at;
    at = next;
  }
  plainStarts[length] = starts?.[bytes.length] ?? bytes.length;
  return { bytes: plain.subarray(0, length), starts: plainStarts };
}

function copyByte(from: Buffer, at: number, to: Buffer, length: number): number {
  to[length] = from[at] ?? 0;
  return length + 1;
}

function merge(ranges: ByteRange[]): ByteRange[] {
  const merged: ByteRange[] = [];
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}
