import type { RefusalView } from '../../../server/contract/request-views.ts';
import type { Localization } from '../../messages/use-messages.ts';

/** `12 requests with an unknown key in the last hour, the last at 14:03 from “OpenAI/Python 1.2”`. */
export function describeRefusal(refusal: RefusalView, { messages, formats }: Localization): string {
  const { requests, reason, lastAt, lastClient } = refusal;
  const { reasons, otherReason, summary } = messages.requests.refused;
  const why = isKnown(reason, reasons) ? reasons[reason] : otherReason(reason);
  return summary({
    requests,
    count: formats.number(requests),
    why,
    time: formats.clock(lastAt),
    client: lastClient,
  });
}

function isKnown<T extends object>(reason: string, reasons: T): reason is Extract<keyof T, string> {
  return Object.hasOwn(reasons, reason);
}
