import { formatMessage } from '../../../server/contract/coded.ts';
import type { DiscoveryView } from '../../../server/contract/provider-views.ts';
import type { Messages } from '../../messages/en/en.ts';

/** Why the models of a provider could not be listed; empty if they could. */
export function unlistedReason({ finding, problem }: DiscoveryView, { findings }: Messages['probe']): string {
  return finding ? formatMessage(findings, finding) : (problem ?? '');
}
