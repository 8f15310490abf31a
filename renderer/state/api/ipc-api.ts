/** The control API through the desktop's main process. It needs no session, because main knows its own window. */
import type { CommandInputMap, CommandResults, CommandType, ControlReply } from '../../../server/contract/commands.ts';
import type { IpcArgument, IpcBridge, IpcCallName, IpcMessage, IpcResult } from '../../../server/contract/ipc.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../../../server/contract/queries.ts';
import {
  type ControlApi,
  ControlError,
  type ControlListener,
  controlErrorOf,
  type DesktopApi,
  type Subscription,
} from './api.ts';

export function createIpcApi(bridge: IpcBridge): ControlApi & { desktop: DesktopApi } {
  const listeners = new Map<number, ControlListener>();
  const desktopListeners = new Set<Parameters<DesktopApi['onChange']>[0]>();
  const actListeners = new Set<Parameters<DesktopApi['onAct']>[0]>();
  const openedListeners = new Set<() => void>();
  bridge.listen((message) => {
    if (message.type === 'desktop') for (const listener of desktopListeners) listener(message.desktop);
    else if (message.type === 'act') for (const listener of actListeners) listener(message.act);
    else if (message.type === 'opened') for (const listener of openedListeners) listener();
    else deliver(message, listeners.get(message.subscription));
  });
  return {
    // The contract defines the result type of each command; the IPC call table has only their union.
    execute: async <T extends CommandType>(command: CommandInputMap[T] & { type: T }) =>
      (await call(bridge, 'execute', command)) as CommandResults[T],
    query: async <T extends QueryType>(query: QueryInputMap[T] & { type: T }) =>
      (await call(bridge, 'query', query)) as QueryResults[T],
    subscribe: (listener) => subscribe(bridge, listeners, listener),
    desktop: {
      call: (name, argument) => call(bridge, name, argument),
      onChange(listener) {
        desktopListeners.add(listener);
        return () => desktopListeners.delete(listener);
      },
      onAct(listener) {
        actListeners.add(listener);
        return () => actListeners.delete(listener);
      },
      onOpened(listener) {
        openedListeners.add(listener);
        return () => openedListeners.delete(listener);
      },
    },
  };
}

let lastSubscription = 0;

function subscribe(
  bridge: IpcBridge,
  listeners: Map<number, ControlListener>,
  listener: ControlListener,
): Subscription {
  const number = ++lastSubscription;
  listeners.set(number, listener);
  const start = () => {
    // Main always answers this call, and reports a lost engine by a message of its own.
    void bridge.call('subscribe', number);
  };
  start();
  return {
    retry: start,
    stop() {
      listeners.delete(number);
      void bridge.call('unsubscribe', number);
    },
  };
}

function deliver(message: Extract<IpcMessage, { subscription: number }>, listener: ControlListener | undefined): void {
  if (message.type === 'connection') listener?.onConnection(message.connection);
  else listener?.onEvent(message.message.event);
}

async function call<Name extends IpcCallName>(
  bridge: IpcBridge,
  name: Name,
  argument: IpcArgument<Name>,
): Promise<IpcResult<Name>> {
  const reply = await invoke(bridge, name, argument);
  if ('error' in reply) throw controlErrorOf(reply.error);
  return reply.result;
}

async function invoke<Name extends IpcCallName>(
  bridge: IpcBridge,
  name: Name,
  argument: IpcArgument<Name>,
): Promise<ControlReply<IpcResult<Name>>> {
  try {
    return await bridge.call(name, argument);
  } catch (error) {
    throw new ControlError('unreachable', error instanceof Error ? error.message : String(error));
  }
}
