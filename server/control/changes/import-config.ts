import type { Config, KeyConfig } from '../../contract/config.ts';
import { keySecretName } from '../../secrets/secret-store.ts';
import { checkProvider, missingSecrets, redirectedProviders } from '../entries/provider-secrets.ts';
import type { Changer } from './change.ts';
import { storedSecretNames } from './change-provider.ts';

export const importConfig: Changer<'config.import'> = (config, { config: imported }, context) => {
  for (const provider of imported.providers) checkProvider(provider, context.ownAddresses);
  const keys = imported.keys.map((key) => withOwnSecretOnly(key, config.keys));
  const next: Config = { ...imported, keys };
  const remainingSecrets = new Set(secretNames(next));
  const deleteBefore = redirectedProviders(config, next).flatMap(storedSecretNames);
  return {
    config: next,
    deleteBefore,
    deleteAfter: secretNames(config).filter((name) => !remainingSecrets.has(name) && !deleteBefore.includes(name)),
    result: ({ revision, views }) => ({ revision, missingSecrets: missingSecrets(views.providers()) }),
  };
};

/** An imported key whose secret was kept elsewhere works by its hash, but its secret is not in this store. */
export function withOwnSecretOnly(key: KeyConfig, ours: readonly KeyConfig[]): KeyConfig {
  if (!key.hash || ours.some((own) => own.id === key.id && own.hash === key.hash && own.secret === key.secret))
    return key;
  const { secret: _, ...rest } = key;
  return rest;
}

function secretNames(config: Config): string[] {
  const keys = config.keys.filter((key) => key.secret === 'keychain').map((key) => keySecretName(key.id));
  return [...config.providers.flatMap(storedSecretNames), ...keys];
}
