/**
 * The IPC calls between the desktop's window and its main process. Main, preload, window and the test double are typed
 * by this table. The argument schemas are in `ipc-arguments.ts`, because the preload cannot load zod.
 */
import type { CassetteContents } from './cassette.ts';
import type { CommandInput, CommandResult, ControlReply } from './commands.ts';
import type { EventMessage } from './events.ts';
import type { QueryInput, QueryResult } from './queries.ts';
import type { LinkRefusal } from './sluice-link.ts';

/** The kinds of system notifications; each can be turned off. */
export const notificationKinds = ['provider-unusable', 'credential-refused', 'budget-reached', 'update-ready'] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** The languages of the window. */
export const windowLanguages = ['en', 'zh-CN'] as const;
export type WindowLanguage = (typeof windowLanguages)[number];

export interface UpdateView {
  /** `managed`: the administrator or a package manager installs updates. */
  state: 'managed' | 'idle' | 'checking' | 'current' | 'downloading' | 'ready' | 'failed';
  /** The update's version. */
  version: string | null;
  /** Release notes, as plain text. */
  notes: string | null;
  /** Download progress. */
  percent: number | null;
  /** Why the check, the download or the installation failed. */
  problem: string | null;
}

/** The keys that show or hide the window from anywhere. */
export interface HotkeyView {
  /** An Electron accelerator, such as `Control+Alt+S`; null if none were chosen. */
  keys: string | null;
  /** Whether another program had them when Sluice started, so that they do nothing. */
  isTaken: boolean;
}

/** The desktop program's state as the window sees it. */
export interface DesktopView {
  /** The state of the engine, which the desktop starts and stops. */
  gateway: 'off' | 'starting' | 'serving' | 'stopping' | 'failed';
  startsAtLogin: boolean;
  /** Whether today's cost stands beside the tray's icon; null where the system cannot show it. */
  trayCost: boolean | null;
  hotkey: HotkeyView;
  notifications: Record<NotificationKind, boolean>;
  update: UpdateView;
}

/** What was opened through the operating system, as a link or a file. It is shown, and nothing is done about it. */
export type Opened =
  /**
   * A team preset or a configuration, not validated yet. `fileName` is null if it was opened as a link, `text` if it could
   * not be read.
   */
  | { kind: 'text'; fileName: string | null; text: string | null }
  | { kind: 'cassette'; cassette: CassetteContents }
  | { kind: 'refused'; reason: LinkRefusal };

/** The window's calls with their arguments and results. */
export interface IpcCalls {
  execute: { argument: CommandInput; result: CommandResult };
  query: { argument: QueryInput; result: QueryResult };
  /** Messages with this subscription number follow, `connection` first. */
  subscribe: { argument: number; result: null };
  unsubscribe: { argument: number; result: null };
  desktop: { argument: null; result: DesktopView };
  /** Resolves when the engine is serving, stopped, or has failed to start. */
  setGateway: { argument: boolean; result: DesktopView };
  setStartAtLogin: { argument: boolean; result: DesktopView };
  setNotification: { argument: { kind: NotificationKind; isOn: boolean }; result: DesktopView };
  setTrayCost: { argument: boolean; result: DesktopView };
  /** Null for none. Fails if another program has these keys. */
  setHotkey: { argument: string | null; result: DesktopView };
  /** Sets the window's language, which tray and notifications use too. */
  setLanguage: { argument: WindowLanguage; result: null };
  checkForUpdates: { argument: null; result: DesktopView };
  cancelUpdate: { argument: null; result: null };
  /** Quits Sluice and starts the new version. */
  installUpdate: { argument: null; result: null };
  /** Returns what was opened once; null if there is nothing. */
  takeOpened: { argument: null; result: Opened | null };
  showLogFolder: { argument: null; result: null };
  /**
   * Opens a terminal whose programs use Sluice with this key and model (null: they choose). Only the desktop's own pages can ask for
   * it: the control API has no such command.
   */
  openTerminal: { argument: { key: string; model: string | null }; result: null };
  /** Opens the window at a screen, given by its path. */
  showWindow: { argument: string; result: null };
  hideWindow: { argument: null; result: null };
}

export type IpcCallName = keyof IpcCalls;
export type IpcArgument<Name extends IpcCallName> = IpcCalls[Name]['argument'];
export type IpcResult<Name extends IpcCallName> = IpcCalls[Name]['result'];

/** What the application's menu asks of the page. */
export type WindowAct = 'find-anything' | 'reload-data';

/** Messages from main to the window. */
export type IpcMessage =
  | { type: 'connection'; subscription: number; connection: 'open' | 'lost' }
  | { type: 'event'; subscription: number; message: EventMessage }
  | { type: 'desktop'; desktop: DesktopView }
  | { type: 'act'; act: WindowAct }
  /** Something was opened, which `takeOpened` returns. */
  | { type: 'opened' };

/** The channel of each call. */
export const ipcChannels: { readonly [Name in IpcCallName]: string } = {
  execute: 'sluice:execute',
  query: 'sluice:query',
  subscribe: 'sluice:subscribe',
  unsubscribe: 'sluice:unsubscribe',
  desktop: 'sluice:desktop',
  setGateway: 'sluice:set-gateway',
  setStartAtLogin: 'sluice:set-start-at-login',
  setNotification: 'sluice:set-notification',
  setTrayCost: 'sluice:set-tray-cost',
  setHotkey: 'sluice:set-hotkey',
  setLanguage: 'sluice:set-language',
  checkForUpdates: 'sluice:check-for-updates',
  cancelUpdate: 'sluice:cancel-update',
  installUpdate: 'sluice:install-update',
  takeOpened: 'sluice:take-opened',
  showLogFolder: 'sluice:show-log-folder',
  openTerminal: 'sluice:open-terminal',
  showWindow: 'sluice:show-window',
  hideWindow: 'sluice:hide-window',
};

/** The channel of `IpcMessage`. */
export const ipcMessageChannel = 'sluice:message';

/** The global under which the preload exposes `IpcBridge`. */
export const ipcBridgeName = 'sluiceDesktop';

/**
 * The API exposed to the page. Errors are returned as values, because Electron passes on only the message of a thrown
 * error.
 */
export interface IpcBridge {
  call<Name extends IpcCallName>(name: Name, argument: IpcArgument<Name>): Promise<ControlReply<IpcResult<Name>>>;
  /** Sets the only listener; a later call replaces it. */
  listen(listener: (message: IpcMessage) => void): void;
}
