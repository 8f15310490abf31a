import { blockOf } from '../../../server/contract/provider-block.ts';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import type { Messages } from '../../messages/en.ts';

/** Why no request goes to a provider, in the language of the window; null if one may. */
export function blockedReason(provider: ProviderView, texts: Messages['providers']['blocked']): string | null {
  const block = blockOf(provider);
  return block && texts[block];
}
