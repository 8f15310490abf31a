import { useState } from 'react';
import { type Answered, useQuery } from '../../state/use-query.ts';

interface Probe {
  /** It was asked for and not dismissed. */
  isShown: boolean;
  result: Answered<'provider-test'>;
  run(): void;
  dismiss(): void;
}

/** Asks a provider whether it can be used, when told to. */
export function useProbe(id: string, isWanted = false): Probe {
  const [isShown, setShown] = useState(isWanted);
  const result = useQuery<'provider-test'>(isShown ? { type: 'provider-test', id } : null);
  return {
    isShown,
    result,
    run: () => (isShown ? result.askAgain() : setShown(true)),
    dismiss: () => setShown(false),
  };
}
