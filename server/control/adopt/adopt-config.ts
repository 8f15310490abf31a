/**
 * Adds what another program's configuration describes: providers with their keys, and model aliases. Nothing that is there
 * is changed.
 */

import { dotenvFormat } from '../../connect/dotenv-format.ts';
import { jsonFormat } from '../../connect/json-format.ts';
import { ConfigSyntaxError } from '../../connect/merge-settings.ts';
import { yamlFormat } from '../../connect/yaml-format.ts';
import { withoutSlashes } from '../../contract/address.ts';
import type { AdoptedEntry, AdoptedProgram, AdoptNote } from '../../contract/change-views.ts';
import {
  type AliasConfig,
  type Config,
  demoProviderId,
  type ProviderConfig,
  providerSchema,
} from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import { GatewayError } from '../../contract/errors.ts';
import { credentialSecretName } from '../../secrets/secret-store.ts';
import type { ChangeContext, Changer } from '../changes/change.ts';
import { chooseId } from '../entries/change-list.ts';
import { checkProvider, missingSecrets } from '../entries/provider-secrets.ts';
import {
  areCcSwitchLinks,
  isCcSwitch,
  readCcSwitch,
  readCcSwitchLinks,
  readCcSwitchSql,
  sqlHead,
} from './cc-switch.ts';
import { isClaudeCodeRouter, readClaudeCodeRouter } from './claude-code-router.ts';
import { readEnvFile } from './env-file.ts';
import type { Found, FoundKey, FoundService, FoundTarget, Reading } from './found.ts';
import { isLiteLlm, readLiteLlm } from './litellm.ts';

/** As many as an alias may have. */
const mostTargets = 64;

type Context = Pick<ChangeContext, 'ownAddresses' | 'variable'> & Reading;

interface Adopted {
  program: AdoptedProgram;
  config: Config;
  entries: AdoptedEntry[];
  /** Names in the secret store, and values. */
  secrets: { name: string; value: string }[];
}

export const adoptConfigChange: Changer<'config.adopt'> = (config, { text }, context) => {
  const { entries, secrets, config: next } = adoptConfig(config, text, { ...context, presets: context.presets() });
  const added = new Set(next.providers.slice(config.providers.length).map(({ id }) => id));
  return {
    config: next,
    storeBefore: secrets,
    result: ({ revision, views }) => ({
      revision,
      entries,
      missingSecrets: missingSecrets(views.providers().filter(({ id }) => added.has(id))),
    }),
  };
};

/** Throws GatewayError `invalid_value`, which names the place, if the text is none of these or is broken. */
export function adoptConfig(config: Config, text: string, context: Context): Adopted {
  const { program, found } = readText(text.replace(/^\uFEFF/, ''), context);
  const merge = startMerge(config, context);
  const entries = found.map((each) => takeFound(merge, each));
  const { secrets, aliases } = merge;
  return {
    program,
    entries,
    secrets,
    config: {
      ...config,
      providers: [...config.providers, ...takenProviders(merge)],
      aliases: [...config.aliases, ...aliases.values()],
    },
  };
}

function readText(text: string, reading: Reading): { program: AdoptedProgram; found: Found[] } {
  if (areCcSwitchLinks(text)) return { program: 'cc-switch', found: readCcSwitchLinks(text, reading) };
  if (sqlHead.test(text)) return { program: 'cc-switch', found: readCcSwitchSql(text, reading) };
  const firstLine = text.split('\n').find((line) => line.trim() !== '' && !line.trim().startsWith('#')) ?? '';
  if (/^\s*(?:export\s+)?[A-Za-z_]\w*\s*=/.test(firstLine)) {
    return { program: 'environment', found: readEnvFile(parsed(dotenvFormat, text), reading) };
  }
  const settings = parsed(text.trimStart().startsWith('{') ? jsonFormat : yamlFormat, text);
  if (isLiteLlm(settings)) return { program: 'litellm', found: readLiteLlm(settings, reading) };
  if (isClaudeCodeRouter(settings)) {
    return { program: 'claude-code-router', found: readClaudeCodeRouter(settings, reading) };
  }
  if (isCcSwitch(settings)) return { program: 'cc-switch', found: readCcSwitch(settings, reading) };
  throw controlError('invalid_value', { code: 'adopt-unknown' });
}

function parsed(format: typeof jsonFormat, text: string): Readonly<Record<string, unknown>> {
  try {
    return format.parse(text);
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    throw controlError('invalid_value', { code: 'adopt-syntax', line: error.line });
  }
}

/** A service that is taken, or the one at its address that was there before. */
interface Place {
  provider: ProviderConfig;
  isOld: boolean;
  /** The ids of credentials by their values. */
  keys: Map<string, string>;
}

interface Merge {
  config: Config;
  context: Context;
  /** By address. */
  places: Map<string, Place>;
  aliases: Map<string, AliasConfig>;
  secrets: Adopted['secrets'];
}

function startMerge(config: Config, context: Context): Merge {
  const places = config.providers.map((provider): [string, Place] => [
    addressOf(provider),
    { provider, isOld: true, keys: new Map() },
  ]);
  return { config, context, places: new Map(places), aliases: new Map(), secrets: [] };
}

function takenProviders({ places }: Merge): ProviderConfig[] {
  return [...places.values()].filter(({ isOld }) => !isOld).map(({ provider }) => provider);
}

/** What Sluice refuses is left out. */
function takeFound(merge: Merge, found: Found): AdoptedEntry {
  const { place, service, alias, notes } = found;
  try {
    const entry = service
      ? takeService(merge, service, { place, notes, isPart: alias !== undefined })
      : { place, notes };
    return alias && (entry.as || !service) ? takeAlias(merge, alias, entry) : entry;
  } catch (error) {
    if (!(error instanceof GatewayError && error.problem)) throw error;
    return { place, notes: [], refusal: error.problem };
  }
}

function takeService(
  merge: Merge,
  service: FoundService,
  { place, notes, isPart }: { place: string; notes: AdoptNote[]; isPart: boolean },
): AdoptedEntry {
  const at = placeFor(merge, service);
  const { id, baseUrl } = at.provider;
  if (at.isOld && !isPart) return { place, notes: [{ code: 'provider-there', provider: id }] };
  const more: AdoptNote[] = at.isOld ? [{ code: 'provider-kept', provider: id }] : addTo(merge, at, service);
  return {
    place,
    as: { part: 'provider', name: id, detail: baseUrl },
    ...(!at.isOld && service.key && { key: shown(service.key) }),
    notes: [...notes, ...more],
  };
}

/** Throws a GatewayError if Sluice refuses the provider. */
function placeFor(merge: Merge, service: FoundService): Place {
  const { config, context, places } = merge;
  const present = places.get(addressOf(service));
  if (present) return present;
  const usedIds = [...config.providers, ...takenProviders(merge), { id: demoProviderId }].map(({ id }) => id);
  const { name, preset, dialect, baseUrl, apiVersion, serves } = service;
  const known = context.presets.find(({ id }) => id === preset);
  const provider = providerSchema.parse({
    id: chooseId(undefined, [name, preset, new URL(baseUrl).host], usedIds, 'provider-'),
    name: name === preset ? known?.name : name,
    preset,
    dialect,
    baseUrl,
    apiVersion,
    serves,
    askUsage: known?.askUsage,
    models: [],
  });
  checkProvider(provider, context.ownAddresses);
  const place: Place = { provider, isOld: false, keys: new Map() };
  places.set(addressOf(service), place);
  return place;
}

/** Adds the service's key and models. */
function addTo({ secrets, context }: Merge, place: Place, { key, models, needsKey }: FoundService): AdoptNote[] {
  const { provider } = place;
  const isAll = models === 'discover' || provider.models === 'discover';
  provider.models = isAll ? 'discover' : [...new Set([...provider.models, ...models])];
  if (!key) return needsKey ? [{ code: 'key-missing' }] : [];
  const value = 'secret' in key ? key.secret : `env:${key.variable}`;
  if (!place.keys.has(value)) {
    const id = `c${place.keys.size + 1}`;
    place.keys.set(value, id);
    provider.credentials.push({ id, secret: 'secret' in key ? 'keychain' : value, enabled: true });
    if ('secret' in key) secrets.push({ name: credentialSecretName(provider.id, id), value });
  }
  return 'secret' in key || context.variable(key.variable)
    ? []
    : [{ code: 'variable-missing', variable: key.variable }];
}

function takeAlias(merge: Merge, { name, targets }: NonNullable<Found['alias']>, entry: AdoptedEntry): AdoptedEntry {
  const { config, aliases } = merge;
  if (config.aliases.some((each) => each.name === name)) {
    return { place: entry.place, notes: [{ code: 'alias-there', alias: name }] };
  }
  const unmet = targets.find((target) => targetsOf(merge, target).length === 0);
  if (unmet) {
    const target = 'alias' in unmet ? unmet.alias : unmet.model;
    return { place: entry.place, notes: [{ code: 'target-missing', target }] };
  }
  const before = aliases.get(name)?.targets ?? [];
  const added = targets.flatMap((target) => targetsOf(merge, target));
  const isNew = ({ provider, model }: AliasConfig['targets'][number]) =>
    !before.some((each) => each.provider === provider && each.model === model);
  aliases.set(name, { name, targets: [...before, ...added.filter(isNew)].slice(0, mostTargets) });
  const detail = added.map(({ provider, model }) => `${provider}/${model}`).join(', ');
  return { ...entry, as: { part: 'alias', name, detail } };
}

function targetsOf({ aliases, places }: Merge, target: FoundTarget): AliasConfig['targets'] {
  if ('alias' in target) {
    const { targets = [] } = aliases.get(target.alias) ?? {};
    return targets.map((each) => ({ ...each, priority: target.priority }));
  }
  const { service, model, weight = 1, priority = 0 } = target;
  const provider = places.get(addressOf(service))?.provider;
  return provider ? [{ provider: provider.id, model, weight, priority }] : [];
}

function addressOf({
  dialect,
  baseUrl,
  apiVersion = '',
}: Pick<ProviderConfig, 'dialect' | 'baseUrl'> & { apiVersion?: string | undefined }): string {
  return `${dialect} ${withoutSlashes(baseUrl).toLowerCase()} ${apiVersion}`;
}

/** The last characters, where enough others remain hidden. */
function shown(key: FoundKey): string {
  if ('variable' in key) return `env:${key.variable}`;
  return key.secret.length >= 16 ? `…${key.secret.slice(-4)}` : '…';
}
