import type { IpcBridge, ipcBridgeName } from '../server/contract/ipc.ts';
import type { ControlApi, DesktopApi } from './api.ts';
import { createHttpApi } from './http-api.ts';
import { createIpcApi } from './ipc-api.ts';

declare global {
  interface Window {
    /** Set by the desktop's preload. */
    [ipcBridgeName]?: IpcBridge;
  }
}

/** The way to the engine that there is: main's, where the desktop's preload has run; else the engine's own routes. */
export function openApi(): { control: ControlApi; desktop: DesktopApi | null } {
  const bridge = window.sluiceDesktop;
  if (!bridge) return { control: createHttpApi(), desktop: null };
  const control = createIpcApi(bridge);
  return { control, desktop: control.desktop };
}
