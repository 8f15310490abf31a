import { controlError } from '../../contract/control-error.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';
import type { LiveConfig } from '../live/live-config.ts';

/** The compiled provider with this id. Throws GatewayError `not_found`. */
export function findUpstream({ snapshot }: Pick<LiveConfig, 'snapshot'>, id: string): CompiledProvider {
  const provider = snapshot.providers.get(id);
  if (!provider) throw controlError('not_found', { code: 'no-provider', id }, 'id');
  return provider;
}
