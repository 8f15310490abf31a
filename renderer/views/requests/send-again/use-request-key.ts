import { useEffect, useRef } from 'react';
import { type KeyChoice, useKeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useKey } from '../../../state/control/use-found.ts';

/** Preselects the key that the request came with, if its secret was kept. */
export function useRequestKey(keyId: string | null): KeyChoice {
  const choice = useKeyChoice();
  const usedKey = useKey(keyId);
  const isKept = usedKey?.enabled === true && usedKey.canReveal;
  const { choose } = choice;
  // Only once; after that the person chooses.
  const isChosen = useRef(false);
  useEffect(() => {
    if (!isKept || keyId === null || isChosen.current) return;
    isChosen.current = true;
    choose(keyId);
  }, [isKept, keyId, choose]);
  return choice;
}
