/** Failed and refused requests: in words, and where the cause can be fixed. Pure. */
import type { RefusalView, RequestView } from '../../../server/contract/request-views.ts';
import type { Messages } from '../../messages/en/en.ts';
import type { Localization } from '../../messages/use-messages.ts';
import type { SectionId } from '../window/section-ids.ts';

interface FailureFix {
  kind: keyof Messages['requests']['fixes'];
  href: string;
}

const keys: FailureFix = { kind: 'keys', href: '/keys' };
const settingsOf = (section: SectionId): FailureFix => ({ kind: 'settings', href: `/settings?section=${section}` });
const limits: FailureFix = { kind: 'settings', href: '/settings?section=serving&level=advanced' };
const byCode: Record<string, FailureFix> = {
  missing_key: keys,
  invalid_api_key: keys,
  key_disabled: keys,
  key_expired: keys,
  no_healthy_provider: { kind: 'providers', href: '/providers' },
  loop_detected: { kind: 'providers', href: '/providers' },
  host_not_allowed: settingsOf('access'),
  origin_not_allowed: settingsOf('access'),
  request_too_large: limits,
  slow_down: limits,
};

type FailedRequest = Pick<
  RequestView,
  'outcome' | 'status' | 'errorCode' | 'provider' | 'keyId' | 'groupId' | 'attempts' | 'modelAsked'
>;

/** Null if the request succeeded, or if only the client can fix it. */
export function fixOfRequest(request: FailedRequest, keyHasLimits: boolean): FailureFix | null {
  const { outcome, status, errorCode, provider, keyId, groupId, attempts, modelAsked } = request;
  if (outcome !== 'error' && outcome !== 'stream-broken') return null;
  const failedProvider =
    attempts.findLast(({ failure, error }) => failure !== null || error !== null)?.provider ?? provider;
  const isOfProvider =
    failedProvider !== null && (status === null || status >= 500 || [401, 403, 404, 429].includes(status));
  if (isOfProvider) return { kind: 'provider', href: `/providers/${failedProvider}` };
  const group = groupId === null ? '/groups' : `/groups/${groupId}`;
  switch (errorCode) {
    case 'model_not_found':
    case 'models_unknown':
      return keyId === null || modelAsked === null
        ? { kind: 'groups', href: group }
        : { kind: 'route', href: `/models?for=key:${keyId}&model=${encodeURIComponent(modelAsked)}` };
    case 'model_missing':
    case 'passthrough_refused':
      return { kind: 'groups', href: group };
    case 'price_unknown':
      return { kind: 'prices', href: `/settings?section=prices&model=${encodeURIComponent(modelAsked ?? '')}` };
    case 'rate_limit_exceeded':
    case 'insufficient_quota':
      return { kind: 'limits', href: keyHasLimits ? '/keys' : group };
    default:
      return (errorCode !== null && byCode[errorCode]) || null;
  }
}

/** For refused requests that are only counted. */
export function fixOfRefusal({ keyId, reason }: Pick<RefusalView, 'keyId' | 'reason'>): FailureFix | null {
  return byCode[reason] ?? (keyId === null ? null : { kind: 'limits', href: '/keys' });
}

/** Null if the provider's own error explains the failure, or if there is no explanation. */
export function explainFailure(
  { errorCode, attempts }: FailedRequest,
  texts: Messages['requests']['errors'],
): string | null {
  // Providers use some of the same codes.
  if (errorCode === null || (attempts.length > 0 && !errorCode.startsWith('upstream_'))) return null;
  return errorText(errorCode, texts);
}

/** An explanation of an error code of Sluice; null if there is none. */
export function errorText(code: string, texts: Messages['requests']['errors']): string | null {
  return isKnown(code, texts) ? texts[code] : null;
}

/** The error recorded for an attempt. */
interface FailureWords {
  /** `connection`: an error of the transport, not of the provider. */
  by: 'provider' | 'connection' | 'sluice';
  /** The provider's status, if it answered. */
  status: string | null;
  /** Empty if the provider sent only a status. */
  words: string;
}

/**
 * The engine records `status 401: …` for an error response, a sentence of its own for a faulty answer, and otherwise
 * the transport's error.
 */
export function failureWordsOf(error: string): FailureWords {
  const answer = /^status (\d{3})(?:: (.*))?$/s.exec(error);
  if (answer) return { by: 'provider', status: answer[1] ?? null, words: answer[2] ?? '' };
  const isSentence = /[.。!?]$/.test(error);
  return { by: isSentence ? 'sluice' : 'connection', status: null, words: error };
}

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
