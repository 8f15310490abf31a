/**
 * Finds known secrets in untrusted text: verbatim, escaped (`\u0041` in JSON, `%41` in URLs, `&#65;` in HTML, nested up
 * to three deep), and base64-encoded at any offset. Runs in linear time.
 */
import type { ByteRange } from '../../apis/json/json-scan.ts';
import { escapeLength, noEscape, readEscape, writeCharacter } from './read-escape.ts';

/** Shorter values (`none`, `ollama`) are placeholders, and occur in texts by chance. */
const minSecretLength = 8;
/** Maximum nesting of escapes. */
const maxDepth = 3;
const isAscii = /^[\x20-\x7e]*$/;
/** ASCII without `%`, `&` and the backslash. */
const isUnescaped = /^[ -$'-[\]-~]*$/;

/** A text with some of its escapes decoded. */
interface Reading {
  bytes: Buffer;
  /** Offset in the original text of each byte, plus the original's end. Null: the bytes are the original text. */
  starts: Uint32Array | null;
}

/** Positions of the secrets in `text`, in order and without overlaps. */
export function findSecrets(text: Buffer, secrets: readonly string[]): ByteRange[] {
  const forms = secrets.filter(isSecret).flatMap(formsOf);
  const ranges: ByteRange[] = [];
  let reading: Reading | null = forms.length > 0 ? { bytes: text, starts: null } : null;
  for (let depth = 0; reading && depth <= maxDepth; depth++) {
    for (const form of forms) findForm(reading, form, ranges);
    reading = depth < maxDepth ? undoEscapes(reading) : null;
  }
  return mergeRanges(ranges);
}

/** Whether a header, URL or name contains one of the secrets. */
export function containsSecret(text: string, secrets: readonly string[]): boolean {
  return mayHoldSecret(text, secrets) && findSecrets(Buffer.from(text), secrets).length > 0;
}

/** Quick check for each header; false is reliable, true needs `findSecrets`. */
export function mayHoldSecret(text: string, secrets: readonly string[]): boolean {
  for (const secret of secrets) {
    // The base64 form is longer than the secret itself.
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
  // `/` and the digits, `+`, `-`, `_`.
  return isLetter || (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x5f;
}

function isSecret(secret: string): boolean {
  return secret.length >= minSecretLength;
}

/** A secret from a header is a byte string, which may be UTF-8 or latin1. */
function formsOf(secret: string): Buffer[] {
  const readings = isAscii.test(secret) ? [Buffer.from(secret)] : [Buffer.from(secret), Buffer.from(secret, 'latin1')];
  return readings.flatMap((bytes) => [bytes, ...base64Forms(bytes)]);
}

/** The part of the base64 encoding that does not depend on the surrounding text, for each of the three alignments. */
function base64Forms(secret: Buffer): Buffer[] {
  const forms = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), secret]).toString('base64');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + secret.length) * 8) / 6));
  });
  const inAddresses = forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...forms, ...inAddresses])].map((form) => Buffer.from(form));
}

function findForm({ bytes, starts }: Reading, form: Buffer, ranges: ByteRange[]): void {
  let at = bytes.indexOf(form);
  while (at !== -1) {
    const end = at + form.length;
    ranges.push({ start: starts?.[at] ?? at, end: starts?.[end] ?? end });
    at = bytes.indexOf(form, end);
  }
}

/** Decodes one level of escapes; null if there are none. */
function undoEscapes({ bytes, starts }: Reading): Reading | null {
  if (!bytes.includes('\\') && !bytes.includes('%') && !bytes.includes('&#')) return null;
  // A decoded escape is never longer than its source.
  const decoded = Buffer.allocUnsafe(bytes.length);
  const decodedStarts = new Uint32Array(bytes.length + 1);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const unescaped = readEscape(bytes, at);
    const next = at + Math.max(1, escapeLength(unescaped));
    const end =
      unescaped === noEscape ? copyByte(bytes, at, decoded, length) : writeCharacter(decoded, length, unescaped);
    while (length < end) decodedStarts[length++] = starts?.[at] ?? at;
    at = next;
  }
  decodedStarts[length] = starts?.[bytes.length] ?? bytes.length;
  return { bytes: decoded.subarray(0, length), starts: decodedStarts };
}

function copyByte(from: Buffer, at: number, to: Buffer, length: number): number {
  to[length] = from[at] ?? 0;
  return length + 1;
}

/** Sorted, those that overlap joined. */
export function mergeRanges(ranges: readonly ByteRange[]): ByteRange[] {
  const merged: ByteRange[] = [];
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}
