/**
 * Code that runs inside Chromium instead of Electron's own: the preload's world with `contextBridge` and `ipcRenderer`,
 * and the other end of the bridge in the page's world. The two worlds share only the document, as in Electron. Values
 * cross in events, which Chromium clones; functions stay in their world and are called by number.
 *
 * Both functions are sent to the browser as source text, so they must not use anything outside themselves.
 */

/** The binding through which the preload's world reaches the double's process. The page's world does not have it. */
export const sendBinding = 'electronDoubleSend';
export const preloadWorld = 'electron-double-preload';

export interface FromPreload {
  id: number;
  channel: string;
  args: unknown[];
}

export function pageWorldScript(): string {
  return `(${runInPageWorld})()`;
}

export function preloadWorldScript(preload: string): string {
  return `if (window === window.top) (${runInPreloadWorld})((require, module, exports) => {${preload}\n})`;
}

/** Runs in the page: it sees whether its window is shown, and may close it. */
export function runAsWindow(wasVisible: boolean): void {
  let isVisible = wasVisible;
  Object.defineProperty(document, 'hidden', { get: () => !isVisible });
  Object.defineProperty(document, 'visibilityState', { get: () => (isVisible ? 'visible' : 'hidden') });
  Object.assign(window, {
    electronDoubleShow(next: boolean) {
      if (next === isVisible) return;
      isVisible = next;
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    },
    close: () => Reflect.get(window, 'electronDoubleClose')(),
  });
}

/** Calls functions of the preload's world, and functions of the page that were passed to one. */
function runInPageWorld(): void {
  interface Settled {
    id: number;
    value?: unknown;
    error?: string;
  }
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  const callbacks = new Map<number, (...args: unknown[]) => void>();
  let last = 0;
  const on = <Detail>(type: string, hear: (detail: Detail) => void) =>
    document.addEventListener(type, (event) => hear((event as CustomEvent<Detail>).detail));
  const callOf =
    (name: string, member: string) =>
    (...args: unknown[]) => {
      const id = ++last;
      const settled = Promise.withResolvers<unknown>();
      pending.set(id, settled);
      const sent = args.map((arg) => {
        if (typeof arg !== 'function') return { value: arg };
        callbacks.set(++last, (...values) => arg(...values));
        return { callback: last };
      });
      document.dispatchEvent(new CustomEvent('electron:call', { detail: { id, name, member, args: sent } }));
      return settled.promise;
    };
  on<{ name: string; members: string[] }>('electron:expose', ({ name, members }) => {
    if (name in window) return;
    const api = Object.fromEntries(members.map((member) => [member, callOf(name, member)]));
    Object.defineProperty(window, name, { value: Object.freeze(api) });
  });
  on<Settled>('electron:settled', ({ id, value, error }) => {
    const settled = pending.get(id);
    pending.delete(id);
    if (error === undefined) settled?.resolve(value);
    else settled?.reject(new Error(error));
  });
  on<{ callback: number; args: unknown[] }>('electron:callback', ({ callback, args }) =>
    callbacks.get(callback)?.(...args),
  );
  document.dispatchEvent(new CustomEvent('electron:page-ready'));
}

type Require = (name: string) => unknown;

function runInPreloadWorld(preload: (require: Require, module: object, exports: object) => void): void {
  type Api = Record<string, (...args: unknown[]) => unknown>;
  const send: (message: string) => void = Reflect.get(window, 'electronDoubleSend');
  const exposed = new Map<string, Api>();
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  const listeners = new Map<string, Set<(event: object, ...args: unknown[]) => void>>();
  let last = 0;
  const tell = (type: string, detail: object) => document.dispatchEvent(new CustomEvent(type, { detail }));
  const announce = (name: string, api: Api) => tell('electron:expose', { name, members: Object.keys(api) });
  const contextBridge = {
    exposeInMainWorld(name: string, api: Api) {
      exposed.set(name, api);
      announce(name, api);
    },
  };
  const ipcRenderer = {
    invoke(channel: string, ...args: unknown[]) {
      const id = ++last;
      const answered = Promise.withResolvers<unknown>();
      pending.set(id, answered);
      send(JSON.stringify({ id, channel, args }));
      return answered.promise;
    },
    on(channel: string, listener: (event: object, ...args: unknown[]) => void) {
      listeners.set(channel, (listeners.get(channel) ?? new Set()).add(listener));
    },
  };
  Object.assign(window, {
    electronDoubleReply({ id, value, error }: { id: number; value?: unknown; error?: string }) {
      const answered = pending.get(id);
      pending.delete(id);
      if (error === undefined) answered?.resolve(value);
      else answered?.reject(new Error(error));
    },
    electronDoubleReceive(channel: string, args: unknown[]) {
      for (const listener of listeners.get(channel) ?? []) listener({}, ...args);
    },
  });
  document.addEventListener('electron:page-ready', () => {
    for (const [name, api] of exposed) announce(name, api);
  });
  document.addEventListener('electron:call', async (event) => {
    const { id, name, member, args } = (event as CustomEvent).detail;
    const received = args.map((arg: { callback?: number; value?: unknown }) =>
      arg.callback === undefined
        ? arg.value
        : (...values: unknown[]) => tell('electron:callback', { callback: arg.callback, args: values }),
    );
    try {
      tell('electron:settled', { id, value: await exposed.get(name)?.[member]?.(...received) });
    } catch (error) {
      tell('electron:settled', { id, error: error instanceof Error ? error.message : String(error) });
    }
  });
  const require = (name: string) => {
    if (name !== 'electron') throw new Error(`a sandboxed preload cannot require "${name}"`);
    return { contextBridge, ipcRenderer };
  };
  const module = { exports: {} };
  preload(require, module, module.exports);
}
