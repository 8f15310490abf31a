import { createContext, useContext, useEffect, useEffectEvent, useState } from 'react';
import type { DesktopView, IpcArgument, IpcCalls, OpenedPreset, WindowLanguage } from '../../server/contract/ipc.ts';
import { asControlError, type ControlError, type DesktopApi, type DesktopCallName } from '../api.ts';

const DesktopContext = createContext<DesktopApi | null>(null);

export const DesktopProvider = DesktopContext.Provider;

type ViewCall = {
  [Name in DesktopCallName]: IpcCalls[Name]['result'] extends DesktopView ? Name : never;
}[DesktopCallName];
type ActCall = Exclude<DesktopCallName, ViewCall>;

export interface Desktop {
  /** Null until it is known. */
  view: DesktopView | null;
  /** Why the last call failed; null if it did not. */
  problem: ControlError | null;
  /** What it makes of the desktop shows in `view`. */
  change<Name extends ViewCall>(name: Name, argument: IpcArgument<Name>): void;
  act<Name extends ActCall>(name: Name, argument: IpcArgument<Name>): void;
}

/** The program around the window; null in a browser. */
export function useDesktop(): Desktop | null {
  const api = useContext(DesktopContext);
  const [view, setView] = useState<DesktopView | null>(null);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const fail = (error: unknown) => setProblem(asControlError(error));
  useEffect(() => {
    if (!api) return;
    // One that asks goes on, whatever comes of it: what has changed is told.
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
    act(name, argument) {
      setProblem(null);
      api.call(name, argument).catch(fail);
    },
  };
}

/** Tray and notifications speak as the window does. */
export function useToldLanguage(language: WindowLanguage): void {
  const api = useContext(DesktopContext);
  useEffect(() => {
    // Where it fails they stay as they are, and are told again by the next window.
    api?.call('setLanguage', language).catch(() => {});
  }, [api, language]);
}

/** Calls back with each link or file that the system hands over; in a browser there are none. */
export function useOpenedPresets(take: (opened: OpenedPreset) => void): void {
  const api = useContext(DesktopContext);
  const taken = useEffectEvent(take);
  useEffect(() => {
    if (!api) return;
    const ask = async () => {
      // Without an answer it waits in main, for the next time.
      const opened = await api.call('takeOpenedPreset', null).catch(() => null);
      if (opened) taken(opened);
    };
    void ask();
    return api.onPresetOpened(() => void ask());
  }, [api]);
}
