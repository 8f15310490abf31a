/** What an import would change: of a configuration, of a team preset. */
import type { ConfigChange, ImportRefusal, TeamPresetPreview } from '../../contract/change-views.ts';
import type { Config, ProviderConfig } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { QueryResults } from '../../contract/queries.ts';
import type { TeamPreset } from '../../contract/team-preset.ts';
import type { ChangeContext } from '../changes/change.ts';
import { checkJoinPreset, importTeamPreset } from '../changes/change-team-preset.ts';
import { withOwnSecretOnly } from '../changes/import-config.ts';
import { mergeTeamPreset, refuseLocked, type TeamPresets } from '../changes/team-presets.ts';
import { compareConfigs } from '../entries/change-list.ts';
import { checkProvider, credentialPaths, redirectedProviders } from '../entries/provider-secrets.ts';
import type { LiveConfig } from '../live/live-config.ts';

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

interface PreviewPorts {
  live: Pick<LiveConfig, 'used'>;
  team: TeamPresets;
  context: Pick<ChangeContext, 'ownAddresses'>;
}

/** The effects of a preset. Throws the errors that `team-preset.apply` would throw. */
export function previewTeamPreset(
  { live, team, context }: PreviewPorts,
  preset: TeamPreset,
  as: 'imported' | 'managed',
): TeamPresetPreview {
  const { config, revision } = live.used;
  const isImported = as === 'imported';
  const merged = isImported
    ? importTeamPreset(config, preset, context.ownAddresses)
    : mergeTeamPreset(config, preset, 'everything');
  if (isImported) refuseLocked(config, merged.config, team.locks(config, 'managed'));
  else checkJoinPreset(merged.config.settings);
  const { name, organisation, contact = null, version = null, locked = [] } = preset;
  return {
    revision,
    preset: { source: isImported ? 'imported' : 'policy', name, organisation, contact, version },
    changes: compareConfigs(config, merged.config).map((change) => withStatedFields(change, preset)),
    locked: [...locked],
    enteredAnew: merged.enteredAnew,
  };
}

/** For added entries, lists all fields that the preset sets, above all a provider's address. */
function withStatedFields(change: ConfigChange, preset: TeamPreset): ConfigChange {
  if (change.kind !== 'added') return change;
  const entries: Record<string, readonly { id?: string; name?: string | undefined }[] | undefined> = {
    provider: preset.providers,
    alias: preset.aliases,
    group: preset.groups,
  };
  const isAlias = change.part === 'alias';
  const entry = entries[change.part]?.find(({ id, name }) => (isAlias ? name : id) === change.name);
  const fields = Object.entries(entry ?? {})
    .filter(([name, value]) => value !== undefined && name !== (isAlias ? 'name' : 'id'))
    .map(([name, value]) => ({ name, before: null, after: JSON.stringify(value) }));
  return { ...change, fields };
}
