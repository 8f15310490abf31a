/**
 * What an answer tells of its price beside its usage: the service tier that it was given, and the searches that the
 * provider ran for it. Read only from answers that have one of these words, which few do. Pure.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { AskedTerms, PriceTerms, PriceTier } from '../../../contract/ledger.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { parseObject } from '../../json/parse-object.ts';
import { hasEscapedLetters, referredIn } from '../referred-input.ts';
import { runningFor } from '../requests/tool-runners.ts';
import { linesOf } from '../sse-framing.ts';
import type { KeptAnswer, MeasuredRequest } from '../wire.ts';
import { mostHeardTokens } from './prompt-estimate.ts';
import { isEventStream } from './reported-usage.ts';

type Fields = Record<string, unknown>;

/** What an object tells: a whole answer, or an event of a stream. */
export type TermsOf = (object: Fields) => PriceTerms;

const usualTerms: PriceTerms = { tier: null, searches: 0 };

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
  let terms = usualTerms;
  for (const object of answer.document ? [answer.document] : marked(answer)) {
    if (object === null) continue;
    const { tier, searches } = termsOf(object);
    // Events count what was searched so far.
    terms = { tier: tier ?? terms.tier, searches: Math.max(searches, terms.searches) };
  }
  return terms.tier === null && terms.searches === 0 ? null : terms;
}

/** The objects that may tell of terms; null: those of which not all is kept. */
function marked(answer: KeptAnswer): (Fields | null)[] {
  const { tail, head, line, whole } = answer;
  const kept = whole !== undefined && whole.length <= maxParsedBytes ? [whole] : [head, tail, line ?? none];
  const pieces = kept.filter(({ length }) => length > 0);
  if (!pieces.some((piece) => mark.test(piece.toString('latin1')))) return [];
  return isEventStream(answer) ? pieces.flatMap(eventsIn) : pieces.map((piece) => parseObject(piece.toString()));
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

/** What an API says in fields of its own. */
export interface OwnTerms {
  tier: PriceTier | null;
  /** The account's settings choose the tier. */
  isTierOpen?: boolean;
  speaks?: boolean;
}

/**
 * On what terms a request may be answered, as far as they set its price beside the number of its tokens: the service
 * tier, searches that the provider runs, input that is sound or is kept in a cache, output that is spoken. One reader
 * for all APIs, used for reservations alone, so that it may parse. Pure.
 */
export function askedTerms(
  body: Pick<MeasuredRequest<never>, 'captured' | 'outline'>,
  { tier, isTierOpen, speaks }: OwnTerms,
): AskedTerms {
  const { captured: json } = body;
  const running = runningFor(body);
  const { isOpen, ids } = referredIn(json);
  const hearsAny = isOpen || ids.length > 0 || running.runs;
  return {
    tier,
    isTierOpen: isTierOpen ?? false,
    searches: mostSearches(running),
    cachesForAnHour: json !== null && (json.includes(oneHour) || hasEscapedLetters(json)),
    heardTokens: hearsAny ? Number.POSITIVE_INFINITY : json === null ? 0 : mostHeardTokens(json),
    speaks: speaks ?? false,
  };
}

/** Anthropic's and OpenRouter's `"ttl":"1h"`, and that of Converse's cache points. */
const oneHour = Buffer.from('"1h"');

/** Where the request sets no maximum. None is documented, and rarely does a model search as often for one answer. */
const unstatedSearches = 100;
/** Searches in files, and among the tools themselves, are no searches of the web. */
const webSearch = boundedPattern(/^(?!file_|tool_).*search/i);
const maxNameLength = 60;

function mostSearches({ tools, isUnseen, searches, maxCalls }: ReturnType<typeof runningFor>): number {
  const offered = tools.reduce<number>((sum, tool) => sum + searchesOf(tool), 0);
  const most = offered + (isUnseen || searches ? unstatedSearches : 0);
  return Math.min(most, maxCalls ?? most);
}

function searchesOf(tool: unknown): number {
  if (!isObject(tool)) return 0;
  // Gemini's tools have no type but a member of their name.
  const names = typeof tool.type === 'string' ? [tool.type] : 'input_schema' in tool ? [] : Object.keys(tool);
  if (!names.some((name) => webSearch.test(name.slice(0, maxNameLength)))) return 0;
  const { max_uses: maxUses } = tool;
  return typeof maxUses === 'number' && maxUses >= 0 ? Math.floor(maxUses) : unstatedSearches;
}
