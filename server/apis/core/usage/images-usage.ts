import type { ExtractedUsage, MeasuredRequest, UsageFormat } from '../wire.ts';
import { wholeDocument } from './whole-document.ts';

interface BilledImages<Name extends string> {
  /** The images in an answer; null if it is none. */
  countIn(answer: Record<string, unknown>): number | null;
  /** The number of requested images. */
  requested: (body: MeasuredRequest<Name>) => number;
}

/**
 * Usage of images that are billed by number, in APIs that do not report it. Answers too long to parse count as the
 * requested number.
 */
export function imagesUsage<Name extends string>({ countIn, requested }: BilledImages<Name>): UsageFormat<Name> {
  return {
    likely: (body) => ({ images: requested(body) }),
    worst: (body) => ({ images: requested(body) }),
    hints: (body) => ({ images: requested(body) }),
    read(answer, { images: requestedImages }): ExtractedUsage {
      const document = wholeDocument(answer);
      const count = document === null ? null : countIn(document);
      if (count !== null) return { usage: { images: count }, certainty: 'reported', status: null };
      if (document !== null || requestedImages === undefined) return { usage: null, certainty: 'none', status: null };
      return { usage: { images: requestedImages }, certainty: 'estimated', status: null };
    },
    text: null,
  };
}
