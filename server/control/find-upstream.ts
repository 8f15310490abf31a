import { GatewayError } from '../contract/errors.ts';
import type { CompiledProvider } from '../routing/snapshot.ts';
import type { LiveConfig } from './live-config.ts';

/** A provider as it can be asked now. Throws GatewayError `not_found`. */
export function findUpstream({ snapshot }: Pick<LiveConfig, 'snapshot'>, id: string): CompiledProvider {
  const provider = snapshot.providers.get(id);
  if (!provider) throw new GatewayError('not_found', `There is no provider "${id}".`, { param: 'id' });
  return provider;
}
