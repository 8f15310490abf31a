import type { ProviderView } from '../../../server/contract/provider-views.ts';
import type { Messages } from '../../messages/en.ts';
import { stateOf } from './provider-state.ts';

/** Why no request goes to a provider, in the language of the window; null if one may. The engine knows no fourth reason. */
export function blockedReason(provider: ProviderView, texts: Messages['providers']['blocked']): string | null {
  if (provider.unusable === null) return null;
  const { kind } = stateOf(provider);
  return kind === 'off' || kind === 'no-credential' ? texts[kind] : texts['leads-back'];
}
