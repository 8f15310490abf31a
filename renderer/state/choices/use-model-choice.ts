import { useMemo } from 'react';
import type { ModelView } from '../../../server/contract/access-views.ts';
import type { ModelUse } from '../../../server/contract/model-identity.ts';
import { modelListVersion } from '../control/query-versions.ts';
import { useControlState } from '../control/use-control.ts';
import { useGroup, useKey } from '../control/use-found.ts';
import { useQuery } from '../control/use-query.ts';
import { createSessionValue, useSessionFields } from '../window/session-value.ts';
import { suggestModel } from './suggest-model.ts';
import { useMostUsed } from './use-most-used.ts';

export interface ModelChoice {
  /** The models that the key lists. */
  models: readonly ModelView[];
  /** Whether `models` is known. */
  isLoaded: boolean;
  use: ModelUse;
  /** Model names, the most used first. */
  mostUsed: readonly string[];
  /** Any text, because a provider may accept names that it does not list. Empty until known, and if no model fits. */
  model: string;
  choose(model: string): void;
}

/** The person's choice per purpose, on any screen. */
const chosenByUse = createSessionValue<Partial<Record<ModelUse, string>>>({});

/** A model that a key may use: its group's default or a likely one, until the person chooses another. */
export function useModelChoice(keyId: string | null, use: ModelUse): ModelChoice {
  const version = useControlState(modelListVersion);
  const { answer } = useQuery<'models'>(keyId === null ? null : { type: 'models', key: keyId }, version);
  const mostUsed = useMostUsed();
  const [chosen, choose] = useSessionFields(chosenByUse);
  const groupDefault = useGroup(useKey(keyId)?.group ?? null)?.defaults[use] ?? null;
  return useMemo(() => {
    const models = answer ?? [];
    // Waits for the second answer, so that the suggestion does not change while the person is looking at it.
    const suggested = mostUsed === null ? '' : suggestModel({ models, use, groupDefault, mostUsed });
    return {
      models,
      isLoaded: answer !== null,
      use,
      mostUsed: mostUsed ?? [],
      model: chosen[use] ?? suggested,
      choose: (model) => choose({ [use]: model }),
    };
  }, [answer, mostUsed, chosen, choose, use, groupDefault]);
}
