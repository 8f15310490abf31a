import { useLocation, useSearch } from 'wouter';
import { type Chosen, chosenOf, chosenText } from '../../components/selects/chosen.ts';
import { useMostUsed } from '../../state/choices/use-most-used.ts';
import { useControlState } from '../../state/control/use-control.ts';

interface ModelsAddress {
  /** The first group until another one is chosen; null while there is none. */
  scope: Chosen | null;
  chooseScope(scope: Chosen): void;
  /** Whose route is shown: the most used one until another is named. */
  model: string;
  chooseModel(model: string): void;
}

/**
 * The key or group for which models are shown, and the model that is explained. Both are part of the address:
 * `/models?for=key:k1&model=gpt-5`.
 */
export function useModelsAddress(): ModelsAddress {
  const search = new URLSearchParams(useSearch());
  const [path, goTo] = useLocation();
  const first = useControlState((state) => state.views?.groups[0]?.id ?? null);
  const mostUsed = useMostUsed();
  const change = (name: 'for' | 'model', value: string) => {
    const next = new URLSearchParams(search);
    next.set(name, value);
    goTo(`${path}?${next}`, { replace: true });
  };
  return {
    scope: chosenOf(search.get('for') ?? '') ?? (first === null ? null : { kind: 'group', id: first }),
    chooseScope: (scope) => change('for', chosenText(scope)),
    model: search.get('model') ?? mostUsed?.[0] ?? '',
    chooseModel: (model) => change('model', model),
  };
}
