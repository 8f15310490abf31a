import { useMemo } from 'react';
import { findLocks, type Lock, type Locks } from '../../server/contract/lock.ts';
import { useControlState } from './use-control.ts';

const none: readonly Lock[] = [];

/** What team presets have fixed. The engine refuses to change it; here it only shows. */
export function useLocks(): Locks {
  const locks = useControlState((state) => state.views?.status.team.locks ?? none);
  return useMemo(() => findLocks(locks), [locks]);
}
