/**
 * What a reply used, from the kept parts of its bytes. Pure: bytes in, numbers out; it must not know providers or prices.
 */
import type { Capability } from '../contract/capability.ts';
import type { Usage, UsageCertainty } from '../contract/ledger.ts';
import { type MostUsage, plausibleUsage, unbounded } from './plausible-usage.ts';
import { readTold } from './told-usage.ts';

/** What is known of a reply besides the end of its bytes. */
export interface UsageHints {
  /** Its beginning, and its length in bytes; absent: the end is all of it. */
  head?: Buffer;
  bytes?: number;
  /** What is more than this was not used, whatever the reply says. */
  most?: MostUsage;
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
  /** The `status` of a response object; null where the reply tells none. */
  status: string | null;
}

/**
 * `tail` is the end of the reply's bytes (all of a short one), decoded of any compression. Call it once for a reply to a
 * request that makes something, and not when a job is looked at again: its seconds would count twice. `reported` is what
 * the upstream said, `estimated` what the request lets one expect or what was left of a report that cannot be true,
 * `partial` a part of what was used.
 */
export function extractUsage(
  capability: Capability,
  tail: Uint8Array,
  contentType: string,
  hints: UsageHints,
): ExtractedUsage {
  const bytes = Buffer.from(tail.buffer, tail.byteOffset, tail.byteLength);
  const isStream = /event-stream/i.test(contentType);
  const { head = empty, bytes: length = bytes.length, most = unbounded } = hints;
  const kept = { tail: bytes, head, isWhole: length <= bytes.length, isStream };
  const told = isStream || /json/i.test(contentType) ? readTold(capability, kept) : null;
  const status = told?.status ?? null;
  const fromRequest = alsoFromRequest(capability, hints, told?.images ?? null);
  if (!told?.usage) return { ...estimate(capability, hints, fromRequest), status };
  const { usage, isMended } = plausibleUsage(told.usage, most);
  if (isMended && Object.keys(usage).length === 0) return { ...estimate(capability, hints, fromRequest), status };
  // Each picture of a stream has an event with a usage of its own, and only the last of them is in the tail.
  const isPartial = capability === 'images' && (hints.images ?? 1) > 1 && isStream;
  const certainty = isMended ? 'estimated' : isPartial ? 'partial' : 'reported';
  return { usage: { ...usage, ...fromRequest }, certainty, status };
}

const mostImages = 128;
const empty = Buffer.alloc(0);

function estimate(capability: Capability, hints: UsageHints, fromRequest: Usage): Omit<ExtractedUsage, 'status'> {
  const usage = { ...fromRequest };
  const hasLength = capability === 'transcription' || capability === 'translation' || capability === 'videos';
  if (hasLength && isCount(hints.seconds)) usage.seconds = hints.seconds;
  const isKnown = Object.keys(usage).length > 0;
  return isKnown ? { usage, certainty: 'estimated' } : { usage: null, certainty: 'none' };
}

/**
 * Services that price by the character or the picture say neither, even where they report tokens. Where more
 * pictures were asked for than any service makes, those in the reply count.
 */
function alsoFromRequest(capability: Capability, hints: UsageHints, images: number | null): Usage {
  if (capability === 'speech' && isCount(hints.inputCharacters)) return { characters: hints.inputCharacters };
  if (capability === 'images' && isCount(hints.images)) {
    return { images: hints.images > mostImages ? (images ?? mostImages) : hints.images };
  }
  return {};
}

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0;
