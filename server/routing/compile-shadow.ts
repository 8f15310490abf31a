import type { GroupConfig } from '../contract/config.ts';
import { shadowAccount } from '../contract/ledger.ts';
import type { CompiledShadow } from './snapshot.ts';

/** Limit for one group: each shadow holds a copy of its request, up to 1 MiB, and its answer. */
export const shadowsAtOnce = 4;

/** Null if no request of the group gets a shadow. */
export function compileShadow({ id, name, shadow }: GroupConfig): CompiledShadow | null {
  if (shadow === null || shadow.share === 0) return null;
  const { target, share, dailyUsd } = shadow;
  const budgets = [{ unit: 'usd' as const, amount: dailyUsd, per: 'day' as const, hard: true }];
  return {
    target,
    share,
    limited: {
      scope: 'group',
      id: shadowAccount(id),
      groupId: id,
      name: `shadows of ${name ?? id}`,
      limits: { concurrent: shadowsAtOnce, budgets },
      sinceMs: 0,
    },
  };
}
