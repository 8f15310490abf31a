/** What a request used, as its details show it. Pure. */

import type { Usage } from '../../../../server/contract/ledger.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { nothing } from '../../../messages/formats.ts';
import type { Localization } from '../../../messages/use-messages.ts';
import { outputRateOf } from '../../../state/requests/live-request.ts';
import { usageInRow } from '../list/usage-in-row.ts';

/** Shown even if they are 0. Providers report zeros of all other kinds with every answer. */
const always: ReadonlySet<keyof Usage> = new Set(['inputTokens', 'cachedInputTokens', 'outputTokens']);

/** What was used, in the order of `names`. */
export function usageAmounts(
  usage: Usage | null,
  names: Readonly<Record<keyof Usage, string>>,
): { name: string; amount: number }[] {
  return (Object.keys(names) as (keyof Usage)[]).flatMap((kind) => {
    const amount = usage?.[kind];
    return amount === undefined || (amount === 0 && !always.has(kind)) ? [] : [{ name: names[kind], amount }];
  });
}

/** What a request cost, what went in and came out, and how fast. Only what is known; empty while nothing is. Figures that the provider did not report have `≈` before them. */
export function gistOf(request: RequestView, localization: Localization): string[] {
  const { messages, formats } = localization;
  const { gist: names } = messages.inspector;
  const { inputTokens, cachedInputTokens = 0, outputTokens } = request.usage ?? {};
  const { cost, certainty } = usageInRow(request, localization);
  const about = certainty === undefined ? '' : '≈';
  const rate = outputRateOf(request);
  const { stream, firstByteMs, totalMs, costUsd } = request;
  const share = inputTokens ? cachedInputTokens / inputTokens : 0;
  const cached = share > 0 ? ` (${names.cached(formats.percent(Math.round(share * 100) / 100))})` : '';
  return [
    costUsd !== null && cost !== nothing && cost,
    inputTokens !== undefined && `${about}${names.input(formats.compact(inputTokens))}${cached}`,
    outputTokens !== undefined && `${about}${names.output(formats.compact(outputTokens))}`,
    rate !== null && names.rate(formats.number(Math.round(rate))),
    stream && firstByteMs !== null && names.first(formats.duration(firstByteMs)),
    totalMs !== null && formats.duration(totalMs),
  ].filter((each) => typeof each === 'string');
}
