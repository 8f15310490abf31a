import type { CommandInputMap, CommandResults, CommandType, ControlReply } from '../../../server/contract/commands.ts';
import type { EventMessage } from '../../../server/contract/events.ts';
import type {
  IpcArgument,
  IpcBridge,
  IpcCallName,
  IpcMessage,
  IpcResult,
  ipcBridgeName,
} from '../../../server/contract/ipc.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../../../server/contract/queries.ts';
import {
  type ControlApi,
  ControlError,
  type ControlListener,
  controlErrorOf,
  type DesktopApi,
  type Subscription,
} from './api.ts';

declare global {
  interface Window {
    /** Set by the desktop's preload. */
    [ipcBridgeName]?: IpcBridge;
  }
}

/** Uses IPC if the desktop's preload script has run, and otherwise the engine's HTTP routes. */
export function createApi(): { control: ControlApi; desktop: DesktopApi | null } {
  const bridge = window.sluiceDesktop;
  if (!bridge) return { control: createHttpApi(), desktop: null };
  const control = createIpcApi(bridge);
  return { control, desktop: control.desktop };
}

/** The first pause is short because in most cases the engine has only restarted. */
const firstPauseMs = 250;
const longestPauseMs = 5_000;

/**
 * The control API over the engine's `/control` routes. The browser adds the session cookie.
 * @param origin the engine's; empty for the origin of the page
 */
export function createHttpApi(origin = ''): ControlApi {
  return {
    execute: <T extends CommandType>(command: CommandInputMap[T] & { type: T }) =>
      post<CommandResults[T]>(`${origin}/control/execute`, command),
    query: <T extends QueryType>(query: QueryInputMap[T] & { type: T }) =>
      post<QueryResults[T]>(`${origin}/control/query`, query),
    subscribe: (listener) => subscribeByHttp(`${origin}/control/events`, listener),
  };
}

async function post<Result>(url: string, body: object): Promise<Result> {
  const reply = await send<Result>(url, JSON.stringify(body));
  if ('error' in reply) throw controlErrorOf(reply.error);
  return reply.result;
}

async function send<Result>(url: string, body: string): Promise<ControlReply<Result>> {
  try {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return await response.json();
  } catch (error) {
    throw new ControlError('unreachable', error instanceof Error ? error.message : String(error));
  }
}

function subscribeByHttp(url: string, listener: ControlListener): Subscription {
  const stopped = new AbortController();
  let endPause = () => {};
  const pause = (durationMs: number | null) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    endPause = resolve;
    const timer = durationMs === null ? undefined : setTimeout(resolve, durationMs);
    return promise.finally(() => clearTimeout(timer));
  };
  const readUntilStopped = async () => {
    for (let failures = 0; !stopped.signal.aborted; failures++) {
      const end = await readStream(url, stopped.signal, listener);
      if (stopped.signal.aborted) return;
      if (end === 'interrupted') failures = 0;
      listener.onConnection(end === 'signed-out' ? 'signed-out' : 'lost');
      await pause(end === 'signed-out' ? null : Math.min(firstPauseMs * 2 ** failures, longestPauseMs));
    }
  };
  void readUntilStopped();
  return {
    retry: () => endPause(),
    stop() {
      stopped.abort();
      endPause();
    },
  };
}

type StreamEnd = 'signed-out' | 'unreachable' | 'interrupted';

/** Reads one connection until it ends. `interrupted`: at least one message had arrived. */
async function readStream(url: string, signal: AbortSignal, listener: ControlListener): Promise<StreamEnd> {
  let revision: number | null = null;
  try {
    const response = await fetch(url, { signal, headers: { accept: 'text/event-stream' }, cache: 'no-store' });
    if (response.status === 401 || response.status === 403) return 'signed-out';
    if (!response.ok || !response.body) return 'unreachable';
    for await (const message of readEventMessages(response.body)) {
      // A gap means that a message was missed; a new connection begins with a snapshot.
      if (revision !== null && message.revision !== revision + 1) break;
      if (revision === null) listener.onConnection('open');
      revision = message.revision;
      listener.onEvent(message.event);
    }
  } catch {
    // Whatever the cause, the caller reconnects.
  }
  return revision === null ? 'unreachable' : 'interrupted';
}

/**
 * Reads the messages of an event stream (`text/event-stream`) in which each event is one `data:` line of JSON, as the
 * engine writes it. Skips comments and other fields.
 */
async function* readEventMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<EventMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of pieces(body)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      // The window is served by the same engine that writes this stream, so the shape matches the contract.
      if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as EventMessage;
    }
  }
}

/** Uses a reader because not every browser can iterate over a stream. */
async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The control API through the desktop's main process. It needs no session, because main knows its own window. */
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
    subscribe: (listener) => subscribeByIpc(bridge, listeners, listener),
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

function subscribeByIpc(
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
