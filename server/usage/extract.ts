/**
 * Usage out of the end of a reply. Pure: bytes in, numbers out; it must not know providers or prices.
 *
 * The reply itself is never parsed: it may be megabytes, and only its last few kilobytes are kept. In JSON the six
 * letters between two unescaped quotes cannot stand inside a string, so the last `"usage"` that is followed by a whole
 * object is the one that counts, wherever the kept part begins; only that object is parsed.
 */
import type { Capability } from '../contract/capability.ts';
import type { Usage, UsageCertainty } from '../contract/ledger.ts';
import { duration, toUsage } from './usage-shapes.ts';

/** What the request itself says of what it will use. */
export interface UsageHints {
  /** Length of the text that is to be spoken. */
  inputCharacters?: number;
  /** Length of the video that is asked for, or of the audio that was sent. */
  seconds?: number;
  /** Pictures that are asked for. */
  images?: number;
}

export interface ExtractedUsage {
  usage: Usage | null;
  certainty: UsageCertainty;
}

/**
 * `tail` is the end of the reply's bytes (all of a short one), decoded of any compression. Call it once for a successful
 * reply to a request that makes something, and not when a job is looked at again: its seconds would count twice.
 * `reported` is what the upstream said, `estimated` what the request lets one expect, `partial` a part of what was used.
 */
export function extractUsage(
  capability: Capability,
  tail: Uint8Array,
  contentType: string,
  hints: UsageHints,
): ExtractedUsage {
  const bytes = Buffer.from(tail.buffer, tail.byteOffset, tail.byteLength);
  const reported = /json|event-stream/i.test(contentType) ? reportedUsage(capability, bytes) : null;
  if (reported === null) return estimate(capability, hints);
  const usage = { ...reported, ...alsoFromRequest(capability, hints) };
  // Each picture of a stream has an event with a usage of its own, and only the last of them is in the tail.
  const isPartial = capability === 'images' && (hints.images ?? 1) > 1 && /event-stream/i.test(contentType);
  return { usage, certainty: isPartial ? 'partial' : 'reported' };
}

function reportedUsage(capability: Capability, bytes: Buffer): Usage | null {
  const usage = lastUsageObject(bytes);
  if (usage !== null) return usage;
  if (capability === 'transcription' || capability === 'translation') return secondsAt(bytes, 'duration');
  if (capability === 'videos') return secondsAt(bytes, 'seconds');
  return null;
}

function estimate(capability: Capability, hints: UsageHints): ExtractedUsage {
  const usage: Usage = alsoFromRequest(capability, hints);
  const hasLength = capability === 'transcription' || capability === 'translation' || capability === 'videos';
  if (hasLength && isCount(hints.seconds)) usage.seconds = hints.seconds;
  const isKnown = Object.keys(usage).length > 0;
  return isKnown ? { usage, certainty: 'estimated' } : { usage: null, certainty: 'none' };
}

/** Services that price by the character or the picture say neither, even where they report tokens. */
function alsoFromRequest(capability: Capability, hints: UsageHints): Usage {
  if (capability === 'speech' && isCount(hints.inputCharacters)) return { characters: hints.inputCharacters };
  if (capability === 'images' && isCount(hints.images)) return { images: hints.images };
  return {};
}

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0;

function lastUsageObject(bytes: Buffer): Usage | null {
  for (const start of valuesOf(bytes, 'usage')) {
    const end = bytes[start] === openBrace ? endOfObject(bytes, start) : -1;
    const usage = end === -1 ? null : toUsage(parse(bytes.toString('utf8', start, end)));
    if (usage !== null) return usage;
  }
  return null;
}

/** The last such member that is a length. A number at the very end of the bytes may have been cut and is not taken. */
function secondsAt(bytes: Buffer, name: string): Usage | null {
  for (const start of valuesOf(bytes, name)) {
    const written = /^("?)(\d+(?:\.\d+)?)\1(?=[\s,}])/.exec(bytes.toString('latin1', start, start + 40));
    const seconds = duration(written?.[2]);
    if (seconds !== undefined) return { seconds };
  }
  return null;
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** What could be one and is none: a reply that has more of it says nothing in the end. */
const mostMembers = 32;

/** Where the values of members called `name` begin, the last one first. */
function* valuesOf(bytes: Buffer, name: string): Generator<number, void, undefined> {
  const key = `"${name}"`;
  let found = 0;
  for (let at = bytes.lastIndexOf(key); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(key, at - 1)) {
    if (found++ === mostMembers) return;
    const afterKey = skipSpace(bytes, at + key.length);
    if (bytes[afterKey] === colon) yield skipSpace(bytes, afterKey + 1);
  }
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}

/** One past the brace that closes the object; -1 if the bytes end before. */
function endOfObject(bytes: Buffer, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === openBrace) depth += 1;
    else if (byte === closeBrace) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
