import { useEffect, useState } from 'react';
import type { BegunJoin, JoinState } from '../../../../server/contract/team-preset.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import { useControlStore } from '../../../state/control/use-control.ts';

interface JoinProcess {
  started: BegunJoin | null;
  /** Null until known. */
  progress: JoinState | null;
  isRunning: boolean;
  problem: ControlError | null;
  start(url: string): Promise<void>;
  choose(group: string): Promise<void>;
  restart(): void;
}

type State = Pick<JoinProcess, 'started' | 'progress' | 'isRunning' | 'problem'>;
const initialState: State = { started: null, progress: null, isRunning: false, problem: null };

/** Joins a team's gateway. While the code is shown, polls whether the person has confirmed it. */
export function useJoin(): JoinProcess {
  const store = useControlStore();
  const [state, setState] = useState<State>(initialState);
  const { started, progress, problem } = state;
  const attempt = async (call: () => Promise<Partial<State>>) => {
    setState((old) => ({ ...old, isRunning: true, problem: null }));
    const next = await call().catch((error: unknown) => ({ problem: asControlError(error) }));
    setState((old) => ({ ...old, ...next, isRunning: false }));
  };
  const isWaiting = started !== null && problem === null && (progress === null || progress.state === 'waiting');
  useEffect(() => {
    if (!isWaiting || !started) return;
    let isStopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async () => {
      const next = await store.execute({ type: 'team.finish-join', id: started.id }).then(
        (answer) => ({ progress: answer }),
        (error: unknown) => ({ problem: asControlError(error) }),
      );
      if (isStopped) return;
      setState((old) => ({ ...old, ...next }));
      if ('progress' in next && next.progress.state === 'waiting')
        timer = setTimeout(poll, started.intervalSeconds * 1_000);
    };
    // A person who is already signed in has nothing to confirm.
    timer = setTimeout(poll, started.signIn ? started.intervalSeconds * 1_000 : 0);
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [store, started, isWaiting]);
  return {
    ...state,
    start: (url) => attempt(async () => ({ started: await store.execute({ type: 'team.join', url }) })),
    choose: (group) =>
      attempt(async () => ({
        progress: await store.execute({ type: 'team.finish-join', id: started?.id ?? '', group }),
      })),
    restart: () => setState(initialState),
  };
}
