import { demoProviderId, type GroupConfig } from '../contract/config.ts';
import { defaultGroupId, passesThrough } from '../contract/operations.ts';
import type { CompiledGroup, RankedProvider } from './snapshot.ts';

/** Selects a group's passthrough provider. If none is set, the first group uses its only provider; other groups have none. */
export function compilePassthrough(
  { id, passthrough }: GroupConfig,
  rankedProviders: readonly RankedProvider[],
): CompiledGroup['passthrough'] {
  const setting = `"passthrough" of group "${id}"`;
  if (passthrough === null) return { provider: null, why: `${setting} is off` };
  const real = rankedProviders.map(({ provider }) => provider).filter((provider) => provider.id !== demoProviderId);
  if (passthrough === undefined) {
    const [first, ...others] = real;
    if (id !== defaultGroupId || !first || others.length > 0) return { provider: null, why: `${setting} is not set` };
    return passesThrough[first.dialect.id]
      ? { provider: first }
      : { provider: null, why: `${setting} is not set, and its only provider speaks another API` };
  }
  const provider = real.find((each) => each.id === passthrough);
  if (provider) return { provider };
  return { provider: null, why: `${setting} names provider "${passthrough}", which the group may not use` };
}
