/**
 * Runs in an isolated world before the page's scripts and exposes the calls of `contract/ipc.ts`. The page gets no channel
 * names, event objects or Electron APIs. Built as a single CommonJS file, which the sandbox requires.
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
