import type { ImportRefusal } from '../../contract/change-views.ts';
import type { Config, ProviderConfig } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { QueryResults } from '../../contract/queries.ts';
import { withOwnSecretOnly } from '../changes/import-config.ts';
import { checkProvider } from '../entries/check-provider.ts';
import { compareConfigs } from '../entries/compare-configs.ts';
import { credentialPaths, redirectedProviders } from '../entries/redirected-providers.ts';

/** The changes that a `config.import` would make, and its errors. */
export function previewImport(
  { config, revision }: { config: Config; revision: number },
  imported: Config,
  ownAddresses: ReadonlySet<string>,
): QueryResults['import-preview'] {
  const keys = imported.keys.map((key) => withOwnSecretOnly(key, config.keys));
  return {
    revision,
    changes: compareConfigs(config, { ...imported, keys }),
    enteredAnew: credentialPaths(redirectedProviders(config, imported).map(withStoredOnly)),
    refusals: imported.providers.flatMap((provider) => refusalsOf(provider, ownAddresses)),
  };
}

/** References come from the imported file; only stored secrets are deleted. */
function withStoredOnly(provider: ProviderConfig): ProviderConfig {
  return { ...provider, credentials: provider.credentials.filter(({ secret }) => secret === 'keychain') };
}

function refusalsOf(provider: ProviderConfig, ownAddresses: ReadonlySet<string>): ImportRefusal[] {
  try {
    checkProvider(provider, ownAddresses);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [{ provider: provider.id, problem: error.problem, message: error.message }];
  }
}
