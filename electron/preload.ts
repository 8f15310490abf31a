/**
 * Runs in the window before the page, in a world of its own, and gives the page the calls of `contract/ipc.ts` and nothing
 * else: no channel name, no event object, no Electron. Built as one CommonJS file, as the sandbox needs it.
 */
import { contextBridge, ipcRenderer } from 'electron';
import {
  type IpcBridge,
  type IpcCallName,
  type IpcMessage,
  ipcBridgeName,
  ipcChannels,
  ipcMessageChannel,
} from '../server/contract/ipc.ts';

let listener: (message: IpcMessage) => void = () => {};

ipcRenderer.on(ipcMessageChannel, (_event, message: IpcMessage) => listener(message));

const bridge: IpcBridge = {
  async call(name: IpcCallName, argument: unknown) {
    if (!Object.hasOwn(ipcChannels, name)) throw new Error('there is no such call');
    return ipcRenderer.invoke(ipcChannels[name], argument);
  },
  listen(next) {
    listener = next;
  },
};
contextBridge.exposeInMainWorld(ipcBridgeName, bridge);
