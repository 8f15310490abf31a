import type { EnvironmentCredential } from '../../contract/preset.ts';
import { keyPrefix } from '../../routing/key-secret.ts';
import type { LiveConfig } from '../live/live-config.ts';
import type { ProviderKnowledge } from '../live/provider-knowledge.ts';

interface EnvironmentCredentialPorts {
  env: Readonly<Record<string, string | undefined>>;
  live: Pick<LiveConfig, 'used' | 'isSecretInUse'>;
  providers: Pick<ProviderKnowledge, 'presets'>;
}

/** For each preset, the first environment variable with a credential that no provider uses. */
export function findEnvironmentCredentials({
  env,
  live,
  providers,
}: EnvironmentCredentialPorts): EnvironmentCredential[] {
  const references = new Set(
    live.used.config.providers.flatMap(({ credentials }) => credentials.map(({ secret }) => secret)),
  );
  return providers.presets().flatMap((preset) => {
    const variable = preset.environment.find((name) => isCredential(env[name]));
    const value = variable && env[variable]?.trim();
    if (!variable || !value || references.has(`env:${variable}`) || live.isSecretInUse(value)) return [];
    return [{ preset: preset.id, variable }];
  });
}

/** A key of Sluice itself, which users often have in `OPENAI_API_KEY`, is not a provider's credential. */
function isCredential(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '' && !value.startsWith(keyPrefix);
}
