import { z } from 'zod';
import { type IpcArgument, type IpcCallName, notificationKinds, windowLanguages } from './ipc.ts';

const nothing = z.null();
/** The engine validates it, as for HTTP requests. */
const checkedByEngine = z.looseObject({ type: z.string() });

/** At least one key besides Shift is held, so that no letter is taken from every other program. */
const accelerator =
  /^(?=.*(?:Control|Alt|Command|Super)\+)(?:(?:Control|Alt|Shift|Command|Super)\+){1,5}(?:[A-Z0-9]|F(?:[1-9]|1\d|2[0-4])|Space)$/;

/** The argument schema of each call, checked in the main process. */
export const ipcArguments = {
  execute: checkedByEngine,
  query: checkedByEngine,
  subscribe: z.number().int().positive(),
  unsubscribe: z.number().int().positive(),
  desktop: nothing,
  setGateway: z.boolean(),
  setStartAtLogin: z.boolean(),
  setNotification: z.strictObject({ kind: z.enum(notificationKinds), isOn: z.boolean() }),
  setTrayCost: z.boolean(),
  setHotkey: z.string().regex(accelerator).nullable(),
  setLanguage: z.enum(windowLanguages),
  checkForUpdates: nothing,
  cancelUpdate: nothing,
  installUpdate: nothing,
  takeOpened: nothing,
  showLogFolder: nothing,
  openTerminal: z.strictObject({ key: z.string().max(200), model: z.string().max(500).nullable() }),
  showWindow: z.string().max(2_048).startsWith('/'),
  hideWindow: nothing,
} as const satisfies {
  [Name in IpcCallName]: z.ZodType<Name extends 'execute' | 'query' ? object : IpcArgument<Name>>;
};

/** A validated argument, as passed to handlers. */
export type CheckedArgument<Name extends IpcCallName> = z.infer<(typeof ipcArguments)[Name]>;
