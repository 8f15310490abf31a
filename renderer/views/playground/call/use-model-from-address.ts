import { useEffect, useEffectEvent } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { ModelChoice } from '../../../state/choices/use-model-choice.ts';

/** Selects the model named in the address, once: `/playground/chat?model=gpt-5`. */
export function useModelFromAddress(choice: ModelChoice): void {
  const model = new URLSearchParams(useSearch()).get('model');
  const [path, goTo] = useLocation();
  const apply = useEffectEvent((name: string) => {
    choice.choose(name);
    goTo(path, { replace: true });
  });
  useEffect(() => {
    if (model) apply(model);
  }, [model]);
}
