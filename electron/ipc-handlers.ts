/** What each call of the window does. Its arguments are checked, and its caller is our page, when it gets here. */
import { GatewayError } from '../server/contract/errors.ts';
import type { DesktopView } from '../server/contract/ipc.ts';
import type { Gateway } from '../server/gateway.ts';
import type { EngineHost } from './engine-host.ts';
import type { EventRelay } from './event-relay.ts';
import type { IpcHandlers } from './ipc.ts';
import type { LoginItem } from './login-item.ts';
import type { Notifications } from './notifications.ts';
import type { ChosenLanguage } from './shell-language.ts';
import type { TeamPresetInbox } from './team-preset-inbox.ts';
import type { Updater } from './updater.ts';
import type { WindowKeeper } from './window.ts';

export interface IpcHandlerPorts {
  host: EngineHost;
  relay: EventRelay;
  window: Pick<WindowKeeper, 'close'>;
  loginItem: LoginItem;
  notifications: Notifications;
  updater: Updater;
  inbox: Pick<TeamPresetInbox, 'take'>;
  language: Pick<ChosenLanguage, 'choose'>;
  desktopView(): DesktopView;
  desktopChanged(): void;
  installUpdate(): Promise<void>;
  showLogFolder(): void;
}

export function createIpcHandlers(ports: IpcHandlerPorts): IpcHandlers {
  const { host, relay, window, loginItem, notifications, updater, language, desktopView, desktopChanged } = ports;
  /** Returns the view after an action of the window, and notifies the tray of it. */
  const changedView = () => {
    desktopChanged();
    return desktopView();
  };
  return {
    execute: (command) => engineOf(host).execute(command),
    query: (query) => engineOf(host).query(query),
    subscribe: answerNothing((subscription, page) => relay.subscribe(page, subscription)),
    unsubscribe: answerNothing((subscription, page) => relay.unsubscribe(page, subscription)),
    desktop: desktopView,
    setStartAtLogin(isOn) {
      loginItem.set(isOn);
      return changedView();
    },
    setNotification({ kind, isOn }) {
      notifications.set(kind, isOn);
      return changedView();
    },
    setLanguage(chosen) {
      if (language.choose(chosen)) desktopChanged();
      return null;
    },
    async checkForUpdates() {
      await updater.check();
      return desktopView();
    },
    cancelUpdate: answerNothing(updater.cancel),
    installUpdate: answerNothing(() => void ports.installUpdate()),
    takeOpenedPreset: () => ports.inbox.take(),
    showLogFolder: answerNothing(ports.showLogFolder),
    hideWindow: answerNothing(window.close),
  };
}

function engineOf({ gateway }: EngineHost): Gateway {
  if (!gateway) throw new GatewayError('shutting_down', 'The gateway is off. Switch it on from the tray.');
  return gateway;
}

/** For an action without a result: the reply itself confirms it. */
function answerNothing<Parameters extends unknown[]>(act: (...parameters: Parameters) => void) {
  return (...parameters: Parameters): null => {
    act(...parameters);
    return null;
  };
}
