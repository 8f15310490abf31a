/** What a request used, as its details show it. Pure. */

import { costOf, isApproximate, type Usage } from '../../../../server/contract/ledger.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { nothing } from '../../../messages/formats.ts';
import type { Localization } from '../../../messages/use-messages.ts';
import { type LiveRequest, outputRateOf } from '../../../state/requests/live-request.ts';

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

/** What the row of a request says of its usage and cost. Pure. */
interface UsageInRow {
  tokens: string;
  /** For the tooltip of `tokens`. */
  tokensInFull: string | undefined;
  cost: string;
  /** Why the figures are not exact, for tooltips; undefined if the provider reported them. */
  certainty: string | undefined;
}

type Used = Pick<LiveRequest, 'outcome' | 'usage' | 'usageCertainty' | 'costUsd'>;

/** Figures that the provider did not report have `≈` before them. */
export function usageInRow(request: Used, { messages, formats }: Localization): UsageInRow {
  const { usage, usageCertainty } = request;
  const { certainties, tokensInOut } = messages.requests;
  const certainty = isApproximate(usageCertainty) ? certainties[usageCertainty] : undefined;
  const about = certainty === undefined ? '' : '≈';
  const cost = formats.cost(costOf(request, usage !== null), about);
  const { inputTokens, outputTokens } = usage ?? {};
  if (inputTokens === undefined && outputTokens === undefined) {
    return { tokens: nothing, tokensInFull: undefined, cost, certainty };
  }
  const [input, output] = [inputTokens ?? 0, outputTokens ?? 0];
  const inAndOut = tokensInOut(formats.number(input), formats.number(output));
  return {
    tokens: `${about}${formats.number(input + output)}`,
    tokensInFull: certainty === undefined ? inAndOut : `${inAndOut}\n${certainty}`,
    cost,
    certainty,
  };
}
