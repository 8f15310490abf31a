/**
 * The window's IPC: the only file that receives it. Decides who may call (the page of our own scheme, in the main frame
 * of a window of ours), what gets through (arguments that fit `contract/ipc-arguments.ts`) and how an answer travels
 * (always as a value). It must not know what a call does.
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
  /** Whether this is the page of one of our windows. */
  isOurs(sender: WebContents): boolean;
  /** Whether the page was loaded from our own scheme. */
  isOurPage(url: string): boolean;
  /** Called for an internal error in a handler; the page learns of it without its message. */
  reportError(error: unknown): void;
}

export function openIpc(ports: IpcPorts): void {
  for (const name of Object.keys(ipcChannels) as IpcCallName[]) openCall(name, ports);
}

/** Sends to a page, if it is still there. */
export function sendToPage(page: WebContents, message: IpcMessage): void {
  if (!page.isDestroyed()) page.send(ipcMessageChannel, message);
}

/** electron-store opens a channel for pages, which ours have no use for. */
export function closeStoreChannel(): void {
  ipcMain.removeAllListeners('electron-store-get-data');
}

function openCall<Name extends IpcCallName>(name: Name, ports: IpcPorts): void {
  ipcMain.handle(ipcChannels[name], async (event, ...args): Promise<ControlReply<IpcResult<Name>>> => {
    try {
      checkSender(event, ports);
      return { result: await ports.handlers[name](checkArgument(name, args), event.sender) };
    } catch (error) {
      return toReply(error, ports.reportError);
    }
  });
}

function checkSender({ sender, senderFrame }: IpcMainInvokeEvent, { isOurs, isOurPage }: IpcPorts): void {
  const isTrusted =
    senderFrame !== null && senderFrame === sender.mainFrame && isOurs(sender) && isOurPage(senderFrame.url);
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
