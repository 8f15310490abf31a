/** What the row of a request says of its usage and cost. Pure. */
import { costOf, isApproximate } from '../../../../server/contract/ledger.ts';
import { nothing } from '../../../messages/formats.ts';
import type { Localization } from '../../../messages/use-messages.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';

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
