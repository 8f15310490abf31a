/**
 * What an answer tells of its price beside its usage: the service tier that it was given, and the searches that the provider
 * ran for it. Read only from answers that have one of these words, which few do. Pure.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { PriceTerms, PriceTier } from '../../../contract/ledger.ts';
import { parseObject } from '../../json/parse-object.ts';
import { linesOf } from '../sse-event.ts';
import type { KeptAnswer } from '../wire.ts';
import { isEventStream } from './reported-usage.ts';

type Fields = Record<string, unknown>;

/** What an object tells: a whole answer, or an event of a stream. */
export type TermsOf = (object: Fields) => PriceTerms;

export const usualTerms: PriceTerms = { tier: null, searches: 0 };

/**
 * In no text of an answer, where quotation marks are escaped. One search for all of them, because each costs, and this is
 * done for every answer. Linear, so it needs no bound.
 */
const mark =
  /"(?:priority|flex|fast)"|_(?:PRIORITY|FLEX)"|"web(?:_search|SearchQueries")|"(?:num_search_queries|url_citation)"/;

/** Longer answers are not parsed again. */
const maxParsedBytes = 1024 * 1024;

/** Null for the usual terms. */
export function readPriceTerms(answer: KeptAnswer, termsOf: TermsOf): PriceTerms | null {
  const { tail, head, line, whole } = answer;
  const kept = whole !== undefined && whole.length <= maxParsedBytes ? [whole] : [head, tail, line ?? none];
  const pieces = kept.filter(({ length }) => length > 0);
  if (!pieces.some((piece) => mark.test(piece.toString('latin1')))) return null;
  const objects = isEventStream(answer)
    ? pieces.flatMap(eventsIn)
    : pieces.map((piece) => parseObject(piece.toString()));
  let terms = usualTerms;
  for (const object of objects) {
    if (object === null) continue;
    const { tier, searches } = termsOf(object);
    // Events count what was searched so far.
    terms = { tier: tier ?? terms.tier, searches: Math.max(searches, terms.searches) };
  }
  return terms.tier === null && terms.searches === 0 ? null : terms;
}

const none = Buffer.alloc(0);

function eventsIn(piece: Buffer): (Fields | null)[] {
  return linesOf(piece.toString())
    .filter((line) => line.startsWith('data:') && mark.test(line))
    .map((line) => parseObject(line.slice('data:'.length)));
}

/** Any other tier costs as usual, or is not sold by tokens. */
export function tierNamed(name: unknown): PriceTier | null {
  const plain = typeof name === 'string' ? name.replace('ON_DEMAND_', '').toLowerCase() : '';
  return plain === 'priority' || plain === 'flex' || plain === 'fast' ? plain : null;
}

/** The object at these names; empty if there is none. */
export function fieldsAt(object: Fields, ...names: readonly string[]): Fields {
  let value: unknown = object;
  for (const name of names) value = isObject(value) ? value[name] : undefined;
  return isObject(value) ? value : {};
}
