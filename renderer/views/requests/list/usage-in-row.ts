/** What the row of a request says of its usage and cost. Pure. */
import { isApproximate } from '../../../../server/contract/ledger.ts';
import type { Localization } from '../../../messages/use-messages.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';

export const unknown = '–';

interface UsageInRow {
  tokens: string;
  /** For the tooltip of `tokens`. */
  tokensInFull: string | undefined;
  cost: string;
  /** Why the figures are not exact, for tooltips; undefined if the provider reported them. */
  certainty: string | undefined;
}

type Used = Pick<LiveRequest, 'usage' | 'usageCertainty' | 'costUsd'>;

/** Figures that the provider did not report have `≈` before them. */
export function usageInRow({ usage, usageCertainty, costUsd }: Used, { messages, formats }: Localization): UsageInRow {
  const { certainties, tokensInOut } = messages.requests;
  const certainty = isApproximate(usageCertainty) ? certainties[usageCertainty] : undefined;
  const about = certainty === undefined ? '' : '≈';
  const cost = costUsd === null ? unknown : `${about}${formats.dollars(costUsd)}`;
  const { inputTokens, outputTokens } = usage ?? {};
  if (inputTokens === undefined && outputTokens === undefined) {
    return { tokens: unknown, tokensInFull: undefined, cost, certainty };
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
