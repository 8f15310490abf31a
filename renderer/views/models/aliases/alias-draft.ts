import type { AliasView } from '../../../../server/contract/access-views.ts';

/** A target as edited. */
export interface TargetDraft {
  /** Unique while the form is open. */
  id: string;
  provider: string;
  model: string;
  weight: number;
  /** In tokens; undefined: the provider's. */
  contextTokens?: number | undefined;
  /** It has the same rank as the target above. Within a rank, the order is drawn by weight. */
  sharesRank: boolean;
}

/** In the order in which they are tried. */
export function draftsOf({ targets }: Pick<AliasView, 'targets'>): TargetDraft[] {
  const sorted = targets.toSorted((one, other) => one.priority - other.priority);
  return sorted.map(({ provider, model, priority, weight, contextTokens }, index) => ({
    id: String(index),
    provider,
    model,
    weight,
    contextTokens,
    sharesRank: index > 0 && sorted[index - 1]?.priority === priority,
  }));
}

/** In the form that a command expects. The first target always starts a new rank. */
export function targetsOf(drafts: readonly TargetDraft[]): AliasView['targets'] {
  let priority = 0;
  return drafts.map(({ provider, model, weight, contextTokens, sharesRank }, index) => {
    if (index > 0 && !sharesRank) priority++;
    const target = { provider, model: model.trim(), priority, weight };
    return contextTokens === undefined ? target : { ...target, contextTokens };
  });
}

/** Whether another target has the same rank, so that the weight matters. */
export function sharesRankWithOthers(drafts: readonly TargetDraft[], index: number): boolean {
  return (index > 0 && drafts[index]?.sharesRank === true) || drafts[index + 1]?.sharesRank === true;
}

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
