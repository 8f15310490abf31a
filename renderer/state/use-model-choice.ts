import { useState } from 'react';
import { likelyModel, type ModelUse } from './likely-model.ts';
import { useControlState } from './use-control.ts';
import { useQuery } from './use-query.ts';

export interface ModelChoice {
  /** What the key lists. */
  names: readonly string[];
  /** Any text: a provider may take names that it does not list. */
  model: string;
  choose(model: string): void;
}

/** A model that a key may use: the default of its group or a likely one, until the person says another. */
export function useModelChoice(keyId: string | null, use: ModelUse): ModelChoice {
  const revision = useControlState((state) => state.views?.status.revision ?? 0);
  const { answer } = useQuery(keyId === null ? null : { type: 'models', key: keyId }, revision);
  const [chosen, setChosen] = useState<string | null>(null);
  const names = answer?.map(({ id }) => id) ?? [];
  const usual = useControlState(({ views }) => {
    const group = views?.keys.find(({ id }) => id === keyId)?.group;
    return views?.groups.find(({ id }) => id === group)?.defaults[use];
  });
  const likely = usual !== undefined && names.includes(usual) ? usual : likelyModel(names, use);
  return { names, model: chosen ?? likely, choose: setChosen };
}
