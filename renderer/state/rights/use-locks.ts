import { useMemo } from 'react';
import { findLocks, type Lock, type Locks } from '../../../server/contract/lock.ts';
import { useControlState } from '../control/use-control.ts';

const none: readonly Lock[] = [];

/** Values locked by team presets. The engine refuses to change them; the window only shows them as locked. */
export function useLocks(): Locks {
  const locks = useControlState((state) => state.views?.status.team.locks ?? none);
  return useMemo(() => findLocks(locks), [locks]);
}
