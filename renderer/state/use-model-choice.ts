import { useMemo } from 'react';
import type { ModelView } from '../../server/contract/access-views.ts';
import type { ModelUse } from '../../server/contract/model-use.ts';
import { likelyModel } from './likely-model.ts';
import { createSessionValue, useSessionFields } from './session-value.ts';
import { useControlState } from './use-control.ts';
import { useKey } from './use-keys.ts';
import { useMostUsed } from './use-most-used.ts';
import { useQuery } from './use-query.ts';

export interface ModelChoice {
  /** The names that the key lists. */
  names: readonly string[];
  /** The same with what helps to choose among them. */
  models: readonly ModelView[];
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
  const asOf = useControlState(({ views }) =>
    views ? [views.status.revision, ...views.providers.map(({ modelNames }) => modelNames.length)].join(' ') : '',
  );
  const { answer } = useQuery<'models'>(keyId === null ? null : { type: 'models', key: keyId }, asOf);
  const mostUsed = useMostUsed();
  const [chosen, choose] = useSessionFields(chosenByUse);
  const group = useKey(keyId)?.group;
  const usual = useControlState(({ views }) => views?.groups.find(({ id }) => id === group)?.defaults[use] ?? null);
  return useMemo(() => {
    const models = answer ?? [];
    // The field does not change its mind in front of the person once the second answer is there.
    const likely = mostUsed === null ? '' : likelyModel({ models, use, usual, mostUsed });
    return {
      names: models.map(({ id }) => id),
      models,
      use,
      mostUsed: mostUsed ?? [],
      model: chosen[use] ?? likely,
      choose: (model) => choose({ [use]: model }),
    };
  }, [answer, mostUsed, chosen, choose, use, usual]);
}
