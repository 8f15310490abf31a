import { blockOf, type ProviderView } from '../../../server/contract/provider-views.ts';
import type { Messages } from '../../messages/en/en.ts';

/** Why a provider receives no requests, in the language of the window; null if it does. */
export function blockedReason(provider: ProviderView, texts: Messages['providers']['blocked']): string | null {
  const block = blockOf(provider);
  return block && texts[block];
}
