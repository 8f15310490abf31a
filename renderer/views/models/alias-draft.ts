import type { AliasView } from '../../../server/contract/access-views.ts';

/** A target as it is typed. */
export interface TargetDraft {
  /** Its own for as long as the form is open. */
  id: string;
  provider: string;
  model: string;
  weight: number;
  /** Set where this is configured. The form does not show it. */
  contextTokens?: number | undefined;
  /** It has the rank of the one above: between them the order is drawn by weight. */
  sharesRank: boolean;
}

/** In the order in which they are asked. */
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

/** As a command takes them. The first one cannot share a rank with one above. */
export function targetsOf(drafts: readonly TargetDraft[]): AliasView['targets'] {
  let priority = 0;
  return drafts.map(({ provider, model, weight, contextTokens, sharesRank }, index) => {
    if (index > 0 && !sharesRank) priority++;
    const target = { provider, model: model.trim(), priority, weight };
    return contextTokens === undefined ? target : { ...target, contextTokens };
  });
}

/** Whether its weight counts: another one has its rank. */
export function hasCompany(drafts: readonly TargetDraft[], index: number): boolean {
  return (index > 0 && drafts[index]?.sharesRank === true) || drafts[index + 1]?.sharesRank === true;
}
