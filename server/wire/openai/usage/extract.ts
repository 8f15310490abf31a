/**
 * What a reply used, from the kept parts of its bytes. Pure: bytes in, numbers out; it must not know providers or prices.
 */
import type { Capability } from '../../../contract/capability.ts';
import type { Usage } from '../../../contract/ledger.ts';
import { plausibleUsage, unbounded } from '../../plausible-usage.ts';
import type { ExtractedUsage, KeptAnswer, UsageHints } from '../../wire.ts';
import { readTold } from './told-usage.ts';

/** What an answer used, as it says itself, or as the request lets one expect. */
export function extractUsage(
  capability: Capability,
  { tail, head, bytes, contentType, document }: KeptAnswer,
  hints: UsageHints,
): ExtractedUsage {
  const isStream = /event-stream/i.test(contentType);
  const kept = { tail, head, isWhole: bytes <= tail.length, isStream, document };
  const told = isStream || /json/i.test(contentType) ? readTold(capability, kept) : null;
  const status = told?.status ?? null;
  const fromRequest = alsoFromRequest(capability, hints, told?.images ?? null);
  if (!told?.usage) return { ...estimate(capability, hints, fromRequest), status };
  const { usage, isMended } = plausibleUsage(told.usage, hints.most ?? unbounded);
  if (isMended && Object.keys(usage).length === 0) return { ...estimate(capability, hints, fromRequest), status };
  // Each picture of a stream has an event with a usage of its own, and only the last of them is in the tail.
  const isPartial = capability === 'images' && (hints.images ?? 1) > 1 && isStream;
  const certainty = isMended ? 'estimated' : isPartial ? 'partial' : 'reported';
  return { usage: { ...usage, ...fromRequest }, certainty, status };
}

const mostImages = 128;

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
