import { useEffect, useState } from 'react';
import type { BegunJoin, JoinState } from '../../../../server/contract/join-views.ts';
import { asControlError, type ControlError } from '../../../api.ts';
import { useControlStore } from '../../../state/use-control.ts';

interface Joining {
  begun: BegunJoin | null;
  /** Null until known. */
  now: JoinState | null;
  isRunning: boolean;
  problem: ControlError | null;
  begin(url: string): Promise<void>;
  choose(group: string): Promise<void>;
  beginAgain(): void;
}

type State = Pick<Joining, 'begun' | 'now' | 'isRunning' | 'problem'>;
const nothing: State = { begun: null, now: null, isRunning: false, problem: null };

/** Joins a team's gateway. While the code is shown, polls whether the person has confirmed it. */
export function useJoin(): Joining {
  const store = useControlStore();
  const [state, setState] = useState<State>(nothing);
  const { begun, now, problem } = state;
  const attempt = async (act: () => Promise<Partial<State>>) => {
    setState((old) => ({ ...old, isRunning: true, problem: null }));
    const next = await act().catch((error: unknown) => ({ problem: asControlError(error) }));
    setState((old) => ({ ...old, ...next, isRunning: false }));
  };
  const isWaiting = begun !== null && problem === null && (now === null || now.state === 'waiting');
  useEffect(() => {
    if (!isWaiting || !begun) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const next = await store.execute({ type: 'team.finish-join', id: begun.id }).then(
        (told) => ({ now: told }),
        (error: unknown) => ({ problem: asControlError(error) }),
      );
      if (isOver) return;
      setState((old) => ({ ...old, ...next }));
      if ('now' in next && next.now.state === 'waiting') timer = setTimeout(ask, begun.intervalSeconds * 1_000);
    };
    // A person who is already signed in has nothing to confirm.
    timer = setTimeout(ask, begun.signIn ? begun.intervalSeconds * 1_000 : 0);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [store, begun, isWaiting]);
  return {
    ...state,
    begin: (url) => attempt(async () => ({ begun: await store.execute({ type: 'team.join', url }) })),
    choose: (group) =>
      attempt(async () => ({
        now: await store.execute({ type: 'team.finish-join', id: begun?.id ?? '', group }),
      })),
    beginAgain: () => setState(nothing),
  };
}
