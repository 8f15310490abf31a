import type { AliasView } from '../../../server/contract/access-views.ts';

export interface SharedTarget {
  provider: string;
  model: string;
  /** Of the requests that reach its rank, 0 to 1. */
  share: number;
}

/** The targets by rank, the first to be tried first. Within a rank requests are shared by weight. */
export function ranksOf({ targets }: Pick<AliasView, 'targets'>): SharedTarget[][] {
  const byPriority = Map.groupBy(targets, ({ priority }) => priority);
  const ranks = [...byPriority].sort(([one], [other]) => one - other);
  return ranks.map(([, rank]) => {
    const sum = rank.reduce((total, { weight }) => total + weight, 0);
    // Where all weights are 0 none is preferred.
    return rank.map(({ provider, model, weight }) => ({
      provider,
      model,
      share: sum === 0 ? 1 / rank.length : weight / sum,
    }));
  });
}
