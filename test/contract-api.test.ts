/**
 * One suite for both connections of the window to the engine: what screens rely on must hold over HTTP and over IPC.
 */
import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IpcMainInvokeEvent, WebContents, WebFrameMain } from 'electron';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEngineHost, type EngineHost } from '../electron/engine-host.ts';
import { createEventRelay } from '../electron/event-relay.ts';
import { registerIpcHandlers, sendToPage } from '../electron/ipc.ts';
import { createIpcHandlers } from '../electron/ipc-handlers.ts';
import type { Connection, ControlApi, Subscription } from '../renderer/state/api/api.ts';
import { createHttpApi, createIpcApi } from '../renderer/state/api/create-api.ts';
import { type IpcBridge, type IpcMessage, ipcChannels, type UpdateView } from '../server/contract/ipc.ts';
import { asElectron, asEmitter } from './electron/double/as-electron.ts';
import { ipcMain } from './electron/double/engine-of-pages.ts';
import { freePort } from './support/ports.ts';

const noNotifications = {
  'provider-unusable': false,
  'credential-refused': false,
  'budget-reached': false,
  'update-ready': false,
};
const noUpdate: UpdateView = { state: 'idle', version: null, notes: null, percent: null, problem: null };

let folder: string;
let port: number;
let host: EngineHost;
const subscriptions: Subscription[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-contract-'));
  port = await freePort();
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  const providers = [{ id: 'main', baseUrl: 'http://127.0.0.1:1/v1', models: ['gpt-x'] }];
  const config = { version: 1, groups: [{ id: 'default' }], providers, settings: { port } };
  writeFileSync(join(folder, 'data/config.json'), JSON.stringify(config));
  host = createEngineHost(join(folder, 'data'), {
    environment: {
      dataDir: join(folder, 'data'),
      systemLogDir: null,
      passphrase: undefined,
      secrets: 'file',
      proxies: {},
    },
    env: {},
    notice: () => {},
  });
  await host.switchOn();
  expect(host.state).toEqual({ kind: 'serving', baseUrl: `http://127.0.0.1:${port}/v1` });
});

afterEach(async () => {
  for (const subscription of subscriptions.splice(0)) subscription.stop();
  vi.unstubAllGlobals();
  ipcMain.handlers.clear();
  await host.switchOff();
  rmSync(folder, { recursive: true, force: true });
});

/** With the admin token instead of a browser's cookie. */
function overHttp(): ControlApi {
  const token = readFileSync(join(folder, 'data/admin.token'), 'utf8').trim();
  const { fetch } = globalThis;
  vi.stubGlobal('fetch', (url: string, init: RequestInit) =>
    fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
  );
  return createHttpApi(`http://127.0.0.1:${port}`);
}

/** With a page that clones messages, as Electron does. */
function overIpc(): ControlApi {
  let listener: (message: IpcMessage) => void = () => {};
  const mainFrame = asEmitter<WebFrameMain>(Object.assign(new EventEmitter(), { url: 'own://page' }));
  const page = asEmitter<WebContents>(
    Object.assign(new EventEmitter(), {
      mainFrame,
      isDestroyed: () => false,
      send: (_channel: string, message: IpcMessage) => void queueMicrotask(() => listener(structuredClone(message))),
    }),
  );
  const relay = createEventRelay(host, sendToPage);
  const absent = () => {
    throw new Error('no part of this suite');
  };
  const ofDesktop = {
    loginItem: { isOn: false, set: absent },
    hotkey: { choose: absent },
    settings: { update: absent },
    notifications: { settings: noNotifications, set: absent, onEvent: absent, onUpdate: absent },
    inbox: { take: absent },
    language: { choose: absent },
    updater: { view: noUpdate, check: absent, cancel: absent, install: absent },
    ...{
      desktopView: absent,
      publishDesktop: absent,
      installUpdate: absent,
      showLogFolder: absent,
      openTerminal: absent,
    },
  };
  registerIpcHandlers({
    handlers: createIpcHandlers({ host, relay, window: { open: absent, hide: absent }, ...ofDesktop }),
    ownsContents: (sender) => sender === page,
    isWindowUrl: (url) => url === 'own://page',
    reportError: () => {},
  });
  const event = asElectron<IpcMainInvokeEvent>({ sender: page, senderFrame: mainFrame });
  const bridge: IpcBridge = {
    call: async (name, argument) =>
      structuredClone(await ipcMain.handlers.get(ipcChannels[name])?.(event, structuredClone(argument))),
    listen: (next) => {
      listener = next;
    },
  };
  return createIpcApi(bridge);
}

describe.each([
  ['HTTP', overHttp],
  ['IPC', overIpc],
])('the engine over %s', (_name, open) => {
  it('executes a command and returns its result', async () => {
    const result = await open().execute({ type: 'provider.set-enabled', id: 'main', enabled: false });
    expect(result).toMatchObject({ revision: 2, provider: { id: 'main', enabled: false } });
  });

  it('answers a question', async () => {
    expect(await open().query({ type: 'status' })).toMatchObject({ baseUrl: `http://127.0.0.1:${port}/v1` });
  });

  it('rejects missing, invalid and outdated input, each with its error code', async () => {
    const api = open();
    await expect(api.execute({ type: 'key.revoke', id: 'k9' })).rejects.toMatchObject({
      name: 'ControlError',
      code: 'not_found',
      problem: { code: 'no-key', id: 'k9' },
    });
    await expect(api.execute({ type: 'key.create', group: 'no such id!' })).rejects.toMatchObject({
      name: 'ControlError',
      code: 'invalid_command',
    });
    await expect(api.execute({ type: 'group.remove', id: 'default', expectedRevision: 9 })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(api.query({ type: 'request', id: 'req_none' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('sends a snapshot, then changes, and nothing after the stop', async () => {
    const api = open();
    const heard = listen(api);
    await expect.poll(() => heard.events).toEqual(['snapshot']);
    await api.execute({ type: 'provider.set-enabled', id: 'main', enabled: false });
    await expect.poll(() => heard.events).toEqual(['snapshot', 'config-changed']);
    heard.subscription.stop();
    const other = listen(api);
    await api.execute({ type: 'provider.set-enabled', id: 'main', enabled: true });
    await expect.poll(() => other.events.at(-1)).toBe('config-changed');
    expect(heard.events).toEqual(['snapshot', 'config-changed']);
    expect(heard.connections).toEqual(['open']);
  });

  it('reports that the engine is lost, and begins with a snapshot when it is back', async () => {
    const heard = listen(open());
    await expect.poll(() => heard.events).toEqual(['snapshot']);
    await host.switchOff();
    await expect.poll(() => heard.connections.at(-1)).toBe('lost');
    await host.switchOn();
    await expect.poll(() => heard.connections.at(-1)).toBe('open');
    await expect.poll(() => heard.events).toEqual(['snapshot', 'snapshot']);
  });
});

function listen(api: ControlApi) {
  const events: string[] = [];
  const connections: Connection[] = [];
  const subscription = api.subscribe({
    onEvent: (event) => events.push(event.type),
    onConnection: (connection) => connections.push(connection),
  });
  subscriptions.push(subscription);
  return { events, connections, subscription };
}
