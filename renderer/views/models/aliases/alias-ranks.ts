import type { AliasView } from '../../../../server/contract/access-views.ts';

export interface SharedTarget {
  provider: string;
  model: string;
  /** Relative to the requests that reach its rank, from 0 to 1. */
  share: number;
}

/** The targets by rank, in the order in which they are tried. Within a rank, requests are distributed by weight. */
export function ranksOf({ targets }: Pick<AliasView, 'targets'>): SharedTarget[][] {
  const byPriority = Map.groupBy(targets, ({ priority }) => priority);
  const ranks = [...byPriority].sort(([one], [other]) => one - other);
  return ranks.map(([, rank]) => {
    const sum = rank.reduce((total, { weight }) => total + weight, 0);
    // If all weights are 0, the shares are equal.
    return rank.map(({ provider, model, weight }) => ({
      provider,
      model,
      share: sum === 0 ? 1 / rank.length : weight / sum,
    }));
  });
}
