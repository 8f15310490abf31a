/**
 * On what terms a request may be answered, as far as they set its price beside the number of its tokens: the service tier,
 * searches that the provider runs, input that is sound or is kept in a cache, output that is spoken. One reader for all APIs,
 * used for reservations alone, so that it may parse. Pure.
 */

import { isObject } from '../../../contract/is-object.ts';
import type { AskedTerms, PriceTier } from '../../../contract/ledger.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { hasEscapedLetters, referredIn } from '../referred-input.ts';
import { runningFor } from '../requests/tool-runners.ts';
import type { MeasuredRequest } from '../wire.ts';
import { mostHeardTokens } from './prompt-estimate.ts';

/** What an API says in fields of its own. */
export interface OwnTerms {
  tier: PriceTier | null;
  /** The account's settings choose the tier. */
  isTierOpen?: boolean;
  speaks?: boolean;
}

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
