import { GatewayError } from '../contract/errors.ts';
import type { Changer } from './change.ts';
import { demoProviderId } from './demo-provider.ts';

export const putAlias: Changer<'alias.put'> = (config, { alias }) => {
  const known = new Set([...config.providers.map((provider) => provider.id), demoProviderId]);
  const unknown = alias.targets.find((target) => !known.has(target.provider));
  if (unknown) throw new GatewayError('not_found', `There is no provider "${unknown.provider}".`, { param: 'targets' });
  const isNew = !config.aliases.some((each) => each.name === alias.name);
  const aliases = isNew
    ? [...config.aliases, alias]
    : config.aliases.map((each) => (each.name === alias.name ? alias : each));
  return { config: { ...config, aliases }, result: ({ revision }) => ({ revision, alias }) };
};

export const removeAlias: Changer<'alias.remove'> = (config, { name }) => {
  const aliases = config.aliases.filter((alias) => alias.name !== name);
  if (aliases.length === config.aliases.length) throw new GatewayError('not_found', `There is no alias "${name}".`);
  return { config: { ...config, aliases }, result: ({ revision }) => ({ revision }) };
};
