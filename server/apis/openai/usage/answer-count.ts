/** How many answers or images a request asks for. Pure. */
import { numberOf } from '../../core/number-of.ts';

/** A number, or its text in a form; at least 1. Of two and a half answers, two are made, if any. */
export function countOf(value: unknown): number {
  const count = numberOf(value);
  return Number.isFinite(count) && count >= 1 ? Math.floor(count) : 1;
}

/** OpenAI's maximum for `n` is 128. A larger number is refused or reduced, so no more is reserved or billed. */
const maxPaidAnswers = 128;

/** As `countOf`, up to the number that may be billed. */
export function paidCountOf(value: unknown): number {
  return Math.min(countOf(value), maxPaidAnswers);
}
