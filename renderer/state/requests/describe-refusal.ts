import type { RefusalView } from '../../../server/contract/request-views.ts';
import type { Localization } from '../../messages/use-messages.ts';

/** Limit for the name that a program sends, because those of browsers are long. */
const shownCharacters = 48;

/**
 * `12 requests with an unknown key, the last from “OpenAI/Python 1.2” at 14:03`.
 * @param keyName of requests over a limit
 */
export function describeRefusal(
  refusal: RefusalView,
  { messages, formats }: Localization,
  keyName = refusal.keyId,
): string {
  const { requests, reason, lastAt, lastClient } = refusal;
  const { reasons, otherReason, overLimit, line } = messages.requests.refused;
  const withoutKey = isKnown(reason, reasons) ? reasons[reason] : otherReason(reason);
  const why = keyName === null ? withoutKey : overLimit[isKnown(reason, overLimit) ? reason : 'slow_down'](keyName);
  const client = lastClient && cut(lastClient);
  return line({ requests, count: formats.number(requests), why, time: formats.clock(lastAt), client });
}

function cut(client: string): string {
  return client.length > shownCharacters ? `${client.slice(0, shownCharacters - 1)}…` : client;
}

function isKnown<T extends object>(reason: string, reasons: T): reason is Extract<keyof T, string> {
  return Object.hasOwn(reasons, reason);
}
