import type { IpcBridge, ipcBridgeName } from '../../../server/contract/ipc.ts';
import type { ControlApi, DesktopApi } from './api.ts';
import { createHttpApi } from './http-api.ts';
import { createIpcApi } from './ipc-api.ts';

declare global {
  interface Window {
    /** Set by the desktop's preload. */
    [ipcBridgeName]?: IpcBridge;
  }
}

/** Uses IPC if the desktop's preload script has run, and otherwise the engine's HTTP routes. */
export function createApi(): { control: ControlApi; desktop: DesktopApi | null } {
  const bridge = window.sluiceDesktop;
  if (!bridge) return { control: createHttpApi(), desktop: null };
  const control = createIpcApi(bridge);
  return { control, desktop: control.desktop };
}
