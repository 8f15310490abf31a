/**
 * What the desktop's window and its main process say to one another. The one table from which main, preload, the window's
 * side and the tests' double are derived. It bears no schema, since it goes into the preload too: those of the arguments
 * are in `ipc-arguments.ts`.
 */
import type { CommandInput, CommandResult, ControlReply } from './commands.ts';
import type { EventMessage } from './events.ts';
import type { QueryInput, QueryResult } from './queries.ts';

/** What the system tells a person of, besides what the window shows; each can be turned off. */
export const notificationKinds = ['provider-unusable', 'credential-refused', 'budget-reached', 'update-ready'] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** The languages of the window. */
export const windowLanguages = ['en', 'zh-CN'] as const;
export type WindowLanguage = (typeof windowLanguages)[number];

export interface UpdateView {
  /** `managed`: whoever installed Sluice sees to its updates. */
  state: 'managed' | 'idle' | 'checking' | 'current' | 'downloading' | 'ready' | 'failed';
  /** Of the update. */
  version: string | null;
  /** What changed, as text. */
  notes: string | null;
  /** Of a download. */
  percent: number | null;
  /** Why the search, the download or the installation failed. */
  problem: string | null;
}

/** What the window may know of the program around it. */
export interface DesktopView {
  startsAtLogin: boolean;
  notifications: Record<NotificationKind, boolean>;
  update: UpdateView;
}

/** What the system has handed over as a team preset, unchecked. */
export interface OpenedPreset {
  /** Null: it came as a link. */
  fileName: string | null;
  /** Null: it could not be read. */
  text: string | null;
}

/** Every call of the window, with what it takes and what it is answered. */
export interface IpcCalls {
  execute: { argument: CommandInput; result: CommandResult };
  query: { argument: QueryInput; result: QueryResult };
  /** Messages under this number follow, `connection` first. */
  subscribe: { argument: number; result: null };
  unsubscribe: { argument: number; result: null };
  desktop: { argument: null; result: DesktopView };
  setStartAtLogin: { argument: boolean; result: DesktopView };
  setNotification: { argument: { kind: NotificationKind; isOn: boolean }; result: DesktopView };
  /** That of the window; tray and notifications follow it. */
  setLanguage: { argument: WindowLanguage; result: null };
  checkForUpdates: { argument: null; result: DesktopView };
  cancelUpdate: { argument: null; result: null };
  /** Ends Sluice in order, and starts the new one. */
  installUpdate: { argument: null; result: null };
  /** Once: then it is the window's. Null: there is none. */
  takeOpenedPreset: { argument: null; result: OpenedPreset | null };
  showLogFolder: { argument: null; result: null };
  hideWindow: { argument: null; result: null };
}

export type IpcCallName = keyof IpcCalls;
export type IpcArgument<Name extends IpcCallName> = IpcCalls[Name]['argument'];
export type IpcResult<Name extends IpcCallName> = IpcCalls[Name]['result'];

/** What main tells the window without being asked. */
export type IpcMessage =
  | { type: 'connection'; subscription: number; connection: 'open' | 'lost' }
  | { type: 'event'; subscription: number; message: EventMessage }
  | { type: 'desktop'; desktop: DesktopView }
  /** One is there to be taken. */
  | { type: 'preset-opened' };

/** The channel of each call. */
export const ipcChannels: { readonly [Name in IpcCallName]: string } = {
  execute: 'sluice:execute',
  query: 'sluice:query',
  subscribe: 'sluice:subscribe',
  unsubscribe: 'sluice:unsubscribe',
  desktop: 'sluice:desktop',
  setStartAtLogin: 'sluice:set-start-at-login',
  setNotification: 'sluice:set-notification',
  setLanguage: 'sluice:set-language',
  checkForUpdates: 'sluice:check-for-updates',
  cancelUpdate: 'sluice:cancel-update',
  installUpdate: 'sluice:install-update',
  takeOpenedPreset: 'sluice:take-opened-preset',
  showLogFolder: 'sluice:show-log-folder',
  hideWindow: 'sluice:hide-window',
};

/** The channel of `IpcMessage`. */
export const ipcMessageChannel = 'sluice:message';

/** Under this name the preload gives `IpcBridge` to the page. */
export const ipcBridgeName = 'sluiceDesktop';

/** All that the page can reach. An error crosses as a value, since Electron keeps only the message of one that is thrown. */
export interface IpcBridge {
  call<Name extends IpcCallName>(name: Name, argument: IpcArgument<Name>): Promise<ControlReply<IpcResult<Name>>>;
  /** One listener; a later one takes its place. */
  listen(listener: (message: IpcMessage) => void): void;
}
