import { useMemo } from 'react';
import type { ModelView } from '../../server/contract/access-views.ts';
import type { ModelUse } from '../../server/contract/model-use.ts';
import { likelyModel } from './likely-model.ts';
import { listingAge } from './serving-age.ts';
import { createSessionValue, useSessionFields } from './session-value.ts';
import { useControlState } from './use-control.ts';
import { useGroup, useKey } from './use-found.ts';
import { useMostUsed } from './use-most-used.ts';
import { useQuery } from './use-query.ts';

export interface ModelChoice {
  /** Those that the key lists. */
  models: readonly ModelView[];
  /** They are known. */
  isLoaded: boolean;
  use: ModelUse;
  /** The most used first. */
  mostUsed: readonly string[];
  /** Any text: a provider may take names that it does not list. Empty while nothing is known, and where nothing fits. */
  model: string;
  choose(model: string): void;
}

/** What the person chose, by purpose, on whatever screen. */
const chosenByUse = createSessionValue<Partial<Record<ModelUse, string>>>({});

/** A model that a key may use: the default of its group or a likely one, until the person says another. */
export function useModelChoice(keyId: string | null, use: ModelUse): ModelChoice {
  const asOf = useControlState(listingAge);
  const { answer } = useQuery<'models'>(keyId === null ? null : { type: 'models', key: keyId }, asOf);
  const mostUsed = useMostUsed();
  const [chosen, choose] = useSessionFields(chosenByUse);
  const usual = useGroup(useKey(keyId)?.group ?? null)?.defaults[use] ?? null;
  return useMemo(() => {
    const models = answer ?? [];
    // The field does not change its mind in front of the person once the second answer is there.
    const likely = mostUsed === null ? '' : likelyModel({ models, use, usual, mostUsed });
    return {
      models,
      isLoaded: answer !== null,
      use,
      mostUsed: mostUsed ?? [],
      model: chosen[use] ?? likely,
      choose: (model) => choose({ [use]: model }),
    };
  }, [answer, mostUsed, chosen, choose, use, usual]);
}
