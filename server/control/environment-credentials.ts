import type { EnvironmentCredential } from '../contract/preset.ts';
import { keyPrefix } from '../routing/key-secret.ts';
import type { LiveConfig } from './live-config.ts';
import type { ProviderKnowledge } from './provider-knowledge.ts';

interface EnvironmentCredentialPorts {
  env: Readonly<Record<string, string | undefined>>;
  live: Pick<LiveConfig, 'used' | 'isSecretInUse'>;
  providers: Pick<ProviderKnowledge, 'presets'>;
}

/** Of each service the first variable that holds a credential of its own, unless that is used already. */
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

/** Who uses Sluice from a terminal often has its key in `OPENAI_API_KEY`, which is no credential of a provider. */
function isCredential(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '' && !value.startsWith(keyPrefix);
}
