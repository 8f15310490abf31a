/** Replaces the module `electron`, with exactly those parts that main uses. */
import { app } from './app.ts';
import { BrowserWindowDouble as BrowserWindow } from './browser-window.ts';
import { ipcMain, protocol, session } from './engine-of-pages.ts';
import {
  autoUpdater,
  clipboard,
  dialog,
  globalShortcut,
  MenuDouble as Menu,
  NotificationDouble as Notification,
  nativeImage,
  nativeTheme,
  net,
  powerMonitor,
  screen,
  shell,
  TrayDouble as Tray,
  utilityProcess,
} from './system.ts';

const double = {
  app,
  autoUpdater,
  BrowserWindow,
  clipboard,
  dialog,
  globalShortcut,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  net,
  powerMonitor,
  protocol,
  screen,
  session,
  shell,
  Tray,
  utilityProcess,
} satisfies Partial<Record<keyof typeof import('electron'), unknown>>;

export {
  app,
  autoUpdater,
  BrowserWindow,
  clipboard,
  dialog,
  globalShortcut,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  net,
  powerMonitor,
  protocol,
  screen,
  session,
  shell,
  Tray,
  utilityProcess,
};
export default double;
