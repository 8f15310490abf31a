/** What most of OpenAI's wires have in common. */
import type { RequestFormat, RequestView, WholeFormat } from '../wire.ts';

const mebibyte = 1024 * 1024;

export const jsonRequest: RequestFormat = {
  answersAsked: () => 1,
  answersPaid: () => 1,
  isTextAsked: () => false,
  isOneText: () => false,
  takesBeginning: false,
};

/** `marks` with their quotes. No JSON but pictures and vectors comes near 32 MiB. */
export function jsonAnswer(marks: readonly string[], more: Partial<WholeFormat> = {}): WholeFormat {
  return { kind: 'json', marks, isNeverLonger: true, maxHeldBytes: 32 * mebibyte, isNumbers: false, ...more };
}

/** Many vectors or pictures, of which the pieces are of use one by one: too many to be held. */
export const longList: Partial<WholeFormat> = { isNeverLonger: false, maxHeldBytes: 8 * mebibyte };

/** Sound and films. */
export const mediaAnswer: WholeFormat = {
  kind: 'media',
  marks: [],
  isNeverLonger: false,
  maxHeldBytes: 8 * mebibyte,
  isNumbers: false,
};

/** A number that is given as one or, in a form, as text. */
export function countOf(value: unknown): number {
  const count = Number(value);
  return Number.isInteger(count) && count > 0 ? count : 1;
}

/** OpenAI takes up to 128. What asks for more is refused or gets fewer, and is neither reserved nor charged beyond. */
const mostPaidAnswers = 128;

/** The same, as far as it may have to be paid for. */
export function paidCountOf(value: unknown): number {
  return Math.min(countOf(value), mostPaidAnswers);
}

/** What is too long to be read is there, whatever it says. */
export function isAnySet(body: RequestView, ...names: string[]): boolean {
  return names.some((name) => body.raw(name) !== null && !nothing.has(body.field(name)));
}

const nothing = new Set<unknown>([false, 0, '']);
