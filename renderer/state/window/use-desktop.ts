import { createContext, useContext, useEffect, useEffectEvent, useState } from 'react';
import type {
  DesktopView,
  IpcArgument,
  IpcCalls,
  Opened,
  WindowAct,
  WindowLanguage,
} from '../../../server/contract/ipc.ts';
import { asControlError, type ControlError, type DesktopApi, type DesktopCallName } from '../api/api.ts';

const DesktopContext = createContext<DesktopApi | null>(null);

export const DesktopProvider = DesktopContext.Provider;

type ViewCall = {
  [Name in DesktopCallName]: IpcCalls[Name]['result'] extends DesktopView ? Name : never;
}[DesktopCallName];
type ActionCall = Exclude<DesktopCallName, ViewCall>;

export interface Desktop {
  /** Null until known. */
  view: DesktopView | null;
  /** Why the last call failed; null if it did not. */
  problem: ControlError | null;
  /** The effect of the call appears in `view`. */
  change<Name extends ViewCall>(name: Name, argument: IpcArgument<Name>): void;
  run<Name extends ActionCall>(name: Name, argument: IpcArgument<Name>): void;
}

/** The desktop application around the window; null in a browser. */
export function useDesktop(): Desktop | null {
  const api = useContext(DesktopContext);
  const [view, setView] = useState<DesktopView | null>(null);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const fail = (error: unknown) => setProblem(asControlError(error));
  useEffect(() => {
    if (!api) return;
    // A failure is ignored, because `onChange` reports changes anyway.
    void api.call('desktop', null).then(setView, () => {});
    return api.onChange(setView);
  }, [api]);
  if (!api) return null;
  return {
    view,
    problem,
    change(name, argument) {
      setProblem(null);
      api.call(name, argument).then(setView, fail);
    },
    run(name, argument) {
      setProblem(null);
      api.call(name, argument).catch(fail);
    },
  };
}

/** Sets the language of the tray and notifications to the window's. */
export function useSyncShellLanguage(language: WindowLanguage): void {
  const api = useContext(DesktopContext);
  useEffect(() => {
    // If the call fails, they keep their language until the next window sets it.
    api?.call('setLanguage', language).catch(() => {});
  }, [api, language]);
}

/** Carries out what the desktop's menu asks for; never called in a browser. */
export function useMenuActs(acts: Record<WindowAct, () => void>): void {
  const api = useContext(DesktopContext);
  const run = useEffectEvent((act: WindowAct) => acts[act]());
  useEffect(() => api?.onAct((act) => run(act)), [api]);
}

/** Calls back with each link or file that the system hands over; never in a browser. */
export function useOpened(onOpened: (opened: Opened) => void): void {
  const api = useContext(DesktopContext);
  const handle = useEffectEvent(onOpened);
  useEffect(() => {
    if (!api) return;
    const take = async () => {
      // If the call fails, it stays in main until it is asked for again.
      const opened = await api.call('takeOpened', null).catch(() => null);
      if (opened) handle(opened);
    };
    void take();
    return api.onOpened(() => void take());
  }, [api]);
}
