/** The window's IPC calls. `ipc.ts` has checked sender and arguments before these run. */
import type { ToolAccess } from '../server/connect/tool-environment.ts';
import { originOf } from '../server/contract/address.ts';
import { GatewayError } from '../server/contract/errors.ts';
import type { DesktopView } from '../server/contract/ipc.ts';
import type { Gateway } from '../server/engine/gateway.ts';
import type { EngineHost } from './engine-host.ts';
import type { EventRelay } from './event-relay.ts';
import type { Hotkey } from './hotkey.ts';
import type { IpcHandlers } from './ipc.ts';
import type { LoginItem } from './login-item.ts';
import type { Notifications } from './notifications.ts';
import type { OpenedInbox } from './opened-inbox.ts';
import type { DesktopSettingsStore } from './settings-store.ts';
import type { ChosenLanguage } from './shell-language.ts';
import type { Updater } from './updater.ts';
import type { WindowManager } from './window.ts';

export interface IpcHandlerPorts {
  host: EngineHost;
  relay: EventRelay;
  window: Pick<WindowManager, 'open' | 'hide'>;
  loginItem: LoginItem;
  hotkey: Pick<Hotkey, 'choose'>;
  settings: Pick<DesktopSettingsStore, 'update'>;
  notifications: Notifications;
  updater: Updater;
  inbox: Pick<OpenedInbox, 'take'>;
  language: Pick<ChosenLanguage, 'choose'>;
  desktopView(): DesktopView;
  publishDesktop(): void;
  installUpdate(): Promise<void>;
  showLogFolder(): void;
  /** With the environment by which programs find Sluice. */
  openTerminal(access: ToolAccess): Promise<void>;
}

export function createIpcHandlers(ports: IpcHandlerPorts): IpcHandlers {
  const { host, relay, window, loginItem, notifications, updater, language, desktopView, publishDesktop } = ports;
  /** Redraws the tray after a change and returns the new view. */
  const changedView = () => {
    publishDesktop();
    return desktopView();
  };
  return {
    execute: (command) => engineOf(host).execute(command),
    query: (query) => engineOf(host).query(query),
    subscribe: withoutResult((subscription, page) => relay.subscribe(page, subscription)),
    unsubscribe: withoutResult((subscription, page) => relay.unsubscribe(page, subscription)),
    desktop: desktopView,
    async setGateway(isOn) {
      await (isOn ? host.switchOn() : host.switchOff());
      return desktopView();
    },
    setStartAtLogin(isOn) {
      loginItem.set(isOn);
      return changedView();
    },
    setNotification({ kind, isOn }) {
      notifications.set(kind, isOn);
      return changedView();
    },
    setTrayCost(isShown) {
      ports.settings.update({ trayCost: isShown });
      return changedView();
    },
    setHotkey(keys) {
      ports.hotkey.choose(keys);
      return changedView();
    },
    setLanguage(chosen) {
      if (language.choose(chosen)) publishDesktop();
      return null;
    },
    async checkForUpdates() {
      await updater.check();
      return desktopView();
    },
    cancelUpdate: withoutResult(updater.cancel),
    installUpdate: withoutResult(() => void ports.installUpdate()),
    takeOpened: () => ports.inbox.take(),
    showLogFolder: withoutResult(ports.showLogFolder),
    async openTerminal({ key, model }) {
      const engine = engineOf(host);
      const { secret } = await engine.execute({ type: 'key.reveal', id: key });
      const origin = originOf(await engine.query({ type: 'status' }));
      await ports.openTerminal({ origin, key: secret, model: model ?? undefined });
      return null;
    },
    showWindow: withoutResult((path: string) => window.open(path)),
    hideWindow: withoutResult(window.hide),
  };
}

/** Throws a GatewayError while the gateway is off. */
export function engineOf({ gateway }: EngineHost): Gateway {
  if (!gateway) throw new GatewayError('shutting_down', 'The gateway is off. Switch it on from the tray.');
  return gateway;
}

/** Wraps a function without a result, since every call returns a value. */
function withoutResult<Parameters extends unknown[]>(handler: (...parameters: Parameters) => void) {
  return (...parameters: Parameters): null => {
    handler(...parameters);
    return null;
  };
}
