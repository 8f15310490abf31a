/** The parts of Electron that all pages of a session share: custom schemes, permissions, request filters, and IPC. */
import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import { asElectron } from './as-electron.ts';

type InvokeListener = Parameters<Electron.IpcMain['handle']>[1];
type SchemeHandler = Parameters<Electron.Protocol['handle']>[1];
type RequestFilter = (
  details: Electron.OnBeforeRequestListenerDetails,
  answer: (response: Electron.CallbackResponse) => void,
) => void;

class IpcMainDouble extends EventEmitter implements Pick<Electron.IpcMain, 'handle'> {
  readonly handlers = new Map<string, InvokeListener>();

  handle(channel: string, listener: InvokeListener): void {
    if (this.handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
    this.handlers.set(channel, listener);
  }
}

class ProtocolDouble implements Pick<Electron.Protocol, 'handle' | 'registerSchemesAsPrivileged'> {
  readonly handlers = new Map<string, SchemeHandler>();
  readonly privileged: Electron.CustomScheme[] = [];
  appIsReady = false;

  registerSchemesAsPrivileged(schemes: Electron.CustomScheme[]): void {
    if (this.appIsReady) throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
    this.privileged.push(...schemes);
  }

  handle(scheme: string, handler: SchemeHandler): void {
    if (!this.privileged.some((each) => each.scheme === scheme)) throw new Error(`"${scheme}" is not registered`);
    this.handlers.set(scheme, handler);
  }
}

type PermissionRequest = NonNullable<Parameters<Electron.Session['setPermissionRequestHandler']>[0]>;
type PermissionCheck = NonNullable<Parameters<Electron.Session['setPermissionCheckHandler']>[0]>;

class SessionDouble
  implements Pick<Electron.Session, 'setPermissionRequestHandler' | 'setPermissionCheckHandler' | 'webRequest'>
{
  requestHandler: PermissionRequest | null = null;
  checkHandler: PermissionCheck | null = null;
  filter: RequestFilter | null = null;
  readonly webRequest = asElectron<Electron.WebRequest>({
    onBeforeRequest: (listener: RequestFilter | null | Electron.WebRequestFilter) => {
      if (typeof listener === 'function') this.filter = listener;
    },
  });

  setPermissionRequestHandler(handler: PermissionRequest | null): void {
    this.requestHandler = handler;
  }

  setPermissionCheckHandler(handler: PermissionCheck | null): void {
    this.checkHandler = handler;
  }
}

export const ipcMain = new IpcMainDouble();
export const protocol = new ProtocolDouble();
export const defaultSession = new SessionDouble();
/** For the updater, which uses a separate session. */
const fromPartition = () => new SessionDouble();
export const session: { defaultSession: SessionDouble; fromPartition(): SessionDouble } = {
  defaultSession,
  fromPartition,
};
