import { type AliasConfig, type Config, demoProviderId, type KeyConfig } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import { aliasesByName, ownTargetRule } from '../../routing/compile.ts';
import { matchesAny } from '../../routing/compile-keys.ts';
import { findById, putById } from '../entries/change-list.ts';
import type { Changer } from './change.ts';

export const putAlias: Changer<'alias.put'> = (config, { alias, key: keyId }) => {
  const providerIds = new Set([...config.providers.map((provider) => provider.id), demoProviderId]);
  const unknown = alias.targets.find((target) => !providerIds.has(target.provider));
  if (unknown) throw controlError('not_found', { code: 'no-provider', id: unknown.provider }, 'targets');
  const changed =
    keyId === undefined
      ? { ...config, aliases: withAlias(config.aliases, alias) }
      : changeKey(config, keyId, (key) => {
          refuseForeign(config, key, alias);
          return withAlias(key.aliases ?? [], alias);
        });
  return { config: changed, result: ({ revision }) => ({ revision, alias }) };
};

export const removeAlias: Changer<'alias.remove'> = (config, { name, key: keyId }) => {
  const changed =
    keyId === undefined
      ? { ...config, aliases: withoutAlias(config.aliases, name) }
      : changeKey(config, keyId, (key) => withoutAlias(key.aliases ?? [], name));
  return { config: changed, result: ({ revision }) => ({ revision }) };
};

function withAlias(list: readonly AliasConfig[], alias: AliasConfig): AliasConfig[] {
  if (!list.some(({ name }) => name === alias.name)) return [...list, alias];
  return list.map((each) => (each.name === alias.name ? alias : each));
}

function withoutAlias(list: readonly AliasConfig[], name: string): AliasConfig[] {
  const others = list.filter((alias) => alias.name !== name);
  if (others.length === list.length) throw controlError('not_found', { code: 'no-alias', id: name });
  return others;
}

function changeKey(config: Config, id: string, changed: (key: KeyConfig) => AliasConfig[]): Config {
  const key = findById(config.keys, id, 'key');
  return { ...config, keys: putById(config.keys, keyWithAliases(key, changed(key))) };
}

export function keyWithAliases({ aliases: _, ...key }: KeyConfig, aliases: AliasConfig[]): KeyConfig {
  return aliases.length > 0 ? { ...key, aliases } : key;
}

/** What the engine would not use is not stored either. */
function refuseForeign(config: Config, key: KeyConfig, { name, targets }: AliasConfig): void {
  const group = findById(config.groups, key.group, 'group');
  const keyAllows = key.models ? matchesAny(key.models) : null;
  const refusal = (model: string) =>
    controlError('invalid_value', { code: 'not-for-key', key: key.id, model }, 'alias');
  if (!matchesAny(group.models)(name) || (keyAllows && !keyAllows(name))) throw refusal(name);
  const mayLead = ownTargetRule(group, keyAllows, aliasesByName(config.aliases));
  const foreign = targets.find((target) => !mayLead(name, target));
  if (foreign) throw refusal(`${foreign.provider}/${foreign.model}`);
}
