import type { RouteReason, RouteRefusal } from '../../../../server/contract/access-views.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import type { Messages } from '../../../messages/en/en.ts';
import { blockedReason } from '../../../state/providers/providers.ts';

/** Why a provider is tried or not, in the language of the window. */
export function describeReason(reason: RouteReason, provider: ProviderView | undefined, messages: Messages): string {
  const { reasons } = messages.models;
  switch (reason.code) {
    case 'unusable':
      return (provider && blockedReason(provider, messages.providers.blocked)) ?? reason.reason;
    case 'alias':
    case 'own-alias':
    case 'not-in-alias':
    case 'not-in-own-alias':
      return reasons[reason.code](reason.alias);
    case 'not-in-group':
    case 'not-allowed':
      return reasons[reason.code](reason.group);
    case 'not-on-key':
      return reasons[reason.code](reason.key);
    case 'other-addressed':
      return reasons[reason.code](reason.provider);
    default:
      return reasons[reason.code];
  }
}

/** Why a request would be refused immediately. */
export function describeRefusal({ code, nearest, message }: RouteRefusal, { models, requests }: Messages): string {
  const texts = models.refusals;
  switch (code) {
    case 'no_healthy_provider':
      return texts[code];
    case 'key_disabled':
    case 'key_expired':
      return requests.errors[code];
    case 'model_not_found':
      return nearest === null ? texts[code] : `${texts[code]} ${texts.nearest(nearest)}`;
    default:
      return message;
  }
}
