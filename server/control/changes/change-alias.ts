import { demoProviderId } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { Changer } from './change.ts';

export const putAlias: Changer<'alias.put'> = (config, { alias }) => {
  const providerIds = new Set([...config.providers.map((provider) => provider.id), demoProviderId]);
  const unknown = alias.targets.find((target) => !providerIds.has(target.provider));
  if (unknown) throw controlError('not_found', { code: 'no-provider', id: unknown.provider }, 'targets');
  const isNew = !config.aliases.some((each) => each.name === alias.name);
  const aliases = isNew
    ? [...config.aliases, alias]
    : config.aliases.map((each) => (each.name === alias.name ? alias : each));
  return { config: { ...config, aliases }, result: ({ revision }) => ({ revision, alias }) };
};

export const removeAlias: Changer<'alias.remove'> = (config, { name }) => {
  const aliases = config.aliases.filter((alias) => alias.name !== name);
  if (aliases.length === config.aliases.length) throw controlError('not_found', { code: 'no-alias', id: name });
  return { config: { ...config, aliases }, result: ({ revision }) => ({ revision }) };
};
