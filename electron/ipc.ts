/**
 * Handles IPC from the window; the only file that uses `ipcMain`. Accepts calls only from the main frame of our window
 * while it shows our page, checks arguments against `contract/ipc-arguments.ts`, and returns results and errors as values.
 */
import { type IpcMainInvokeEvent, ipcMain, type WebContents } from 'electron';
import type { ControlReply } from '../server/contract/commands.ts';
import { GatewayError } from '../server/contract/errors.ts';
import {
  type IpcCallName,
  type IpcMessage,
  type IpcResult,
  ipcChannels,
  ipcMessageChannel,
} from '../server/contract/ipc.ts';
import { type CheckedArgument, ipcArguments } from '../server/contract/ipc-arguments.ts';

export type IpcHandlers = {
  [Name in IpcCallName]: (
    argument: CheckedArgument<Name>,
    sender: WebContents,
  ) => Promise<IpcResult<Name>> | IpcResult<Name>;
};

interface IpcPorts {
  handlers: IpcHandlers;
  /** Whether the sender belongs to our window. */
  ownsContents(sender: WebContents): boolean;
  /** Whether the URL is of our own scheme. */
  isWindowUrl(url: string): boolean;
  /** Called with unexpected errors of a handler. The page receives an error without their message. */
  reportError(error: unknown): void;
}

export function registerIpcHandlers(ports: IpcPorts): void {
  for (const name of Object.keys(ipcChannels) as IpcCallName[]) registerCall(name, ports);
}

/** Sends to a page unless it has been destroyed. */
export function sendToPage(page: WebContents, message: IpcMessage): void {
  if (!page.isDestroyed()) page.send(ipcMessageChannel, message);
}

/** Closes the channel that electron-store opens for pages, since ours does not use it. */
export function closeStoreChannel(): void {
  ipcMain.removeAllListeners('electron-store-get-data');
}

function registerCall<Name extends IpcCallName>(name: Name, ports: IpcPorts): void {
  ipcMain.handle(ipcChannels[name], async (event, ...args): Promise<ControlReply<IpcResult<Name>>> => {
    try {
      checkSender(event, ports);
      return { result: await ports.handlers[name](checkArgument(name, args), event.sender) };
    } catch (error) {
      return toReply(error, ports.reportError);
    }
  });
}

function checkSender({ sender, senderFrame }: IpcMainInvokeEvent, { ownsContents, isWindowUrl }: IpcPorts): void {
  const isTrusted =
    senderFrame !== null && senderFrame === sender.mainFrame && ownsContents(sender) && isWindowUrl(senderFrame.url);
  if (!isTrusted) throw new GatewayError('control_refused', 'Only the window of Sluice itself may ask this.');
}

function checkArgument<Name extends IpcCallName>(name: Name, args: unknown[]): CheckedArgument<Name> {
  const checked = ipcArguments[name].safeParse(args.length === 1 ? args[0] : args);
  if (!checked.success) throw new GatewayError('invalid_command', `What was sent with "${name}" does not fit.`);
  return checked.data as CheckedArgument<Name>;
}

function toReply(
  error: unknown,
  reportError: (error: unknown) => void,
): { error: ReturnType<GatewayError['toBody']>['error'] } {
  if (error instanceof GatewayError) return error.toBody();
  reportError(error);
  return new GatewayError('internal', 'A fault inside Sluice; its log tells more.').toBody();
}
