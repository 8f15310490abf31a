/** Keys of the engine: those that its events tell of, and of very many the others that are asked for. */
import { useMemo } from 'react';
import type { KeyView } from '../../server/contract/access-views.ts';
import { type FoundKeys, fitsKey } from '../../server/contract/find-keys.ts';
import type { ControlError } from '../api.ts';
import { useNow } from '../components/use-now.ts';
import { useControlState } from './use-control.ts';
import { useQuery } from './use-query.ts';

/** How often keys that no event tells of are asked for again, since their use changes. */
const againMs = 5_000;

/** Null: there is none, or it is not known yet. */
export function useKey(id: string | null): KeyView | null {
  const told = useControlState(({ views }) => views?.keys.find((key) => key.id === id) ?? null);
  const isPartial = useIsPartial();
  const revision = useControlState(({ views }) => views?.status.revision ?? null);
  const isAsked = isPartial && told === null && id !== null;
  const { answer } = useQuery<'find-keys'>(isAsked ? { type: 'find-keys', ids: [id] } : null, revision);
  return told ?? answer?.keys.find((key) => key.id === id) ?? null;
}

/** What a key is called; null: without a key. */
export function useKeyName(id: string | null): string | null {
  return useKey(id)?.name ?? id;
}

interface KeyQuestion {
  search?: string;
  group?: string;
  /** Of those found. */
  limit: number;
}

/** Keys that fit. `found` is null while nothing is known, or asked for. */
export function useFoundKeys(asked: KeyQuestion | null): { found: FoundKeys | null; problem: ControlError | null } {
  const told = useControlState(({ views }) => views?.keys ?? null);
  const isPartial = useIsPartial();
  const revision = useControlState(({ views }) => views?.status.revision ?? null);
  const turn = useNow((now) => Math.floor(now / againMs));
  const question = isPartial && asked ? { type: 'find-keys' as const, ...asked } : null;
  const { answer, problem } = useQuery<'find-keys'>(question, `${revision} ${turn}`);
  return useMemo(() => {
    if (isPartial || told === null || asked === null) return { found: asked ? answer : null, problem };
    const keys = told.filter((key) => fitsKey(key, asked));
    return { found: { keys: keys.slice(0, asked.limit), total: keys.length }, problem: null };
  }, [isPartial, told, asked, answer, problem]);
}

/** Whether there are keys that no event tells of. */
function useIsPartial(): boolean {
  return useControlState(({ views }) => views !== null && views.keyCount > views.keys.length);
}
