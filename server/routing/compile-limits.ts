import type { GroupConfig, KeyConfig } from '../contract/config.ts';
import type { Limited, LimitScope } from '../contract/limits.ts';

/** Null if nothing is limited. */
export function compileLimits(scope: LimitScope, config: KeyConfig | GroupConfig): Limited | null {
  const { id, name, limits } = config;
  if (!limits) return null;
  const { budgets, ...rates } = limits;
  if (budgets.length === 0 && Object.values(rates).every((rate) => rate === undefined)) return null;
  const sinceMs = 'createdAt' in config && config.createdAt ? Date.parse(config.createdAt) : 0;
  const groupId = 'group' in config ? config.group : id;
  return { scope, id, groupId, name: name ?? id, limits, sinceMs };
}
