/** The actions of the tray menu: the same commands that the window sends to the engine, and actions of the desktop itself. */
import { app, clipboard, dialog } from 'electron';
import { formatMessage } from '../server/contract/coded.ts';
import type { CommandInput } from '../server/contract/commands.ts';
import { GatewayError } from '../server/contract/errors.ts';
import type { EngineHost } from './engine-host.ts';
import type { LoginItem } from './login-item.ts';
import type { ShellMessages } from './messages.ts';
import type { ShellLanguage } from './shell-language.ts';
import type { TrayActions, TrayProvider } from './tray-menu.ts';
import type { Updater } from './updater.ts';

interface TrayActionPorts {
  host: EngineHost;
  showWindow(path?: string): void;
  togglePanel(): void;
  language: ShellLanguage;
  loginItem: LoginItem;
  /** Called after a change of the desktop's own state. */
  onChange(): void;
  /** Called when an action failed, because the click has toggled its checkbox anyway. */
  onFailure(): void;
  updater: Pick<Updater, 'check'>;
  installUpdate(): Promise<void>;
  showLogFolder(): void;
}

export function createTrayActions(ports: TrayActionPorts): TrayActions {
  const { host, showWindow, loginItem, onChange, updater } = ports;
  const attempt = (action: () => Promise<unknown>) => runOrShowError(action, ports);
  const execute = (command: CommandInput) => attempt(async () => host.gateway?.execute(command));
  return {
    setGateway: (isOn) => void (isOn ? host.switchOn() : host.switchOff()),
    setProvider: (provider, isOn) => void execute(switchCommand(provider, isOn)),
    copyBaseUrl: () =>
      void attempt(async () => {
        if (host.state.kind === 'serving') await clipboard.writeText(host.state.baseUrl);
      }),
    copyKey: (id) =>
      void attempt(async () => {
        const revealed = await host.gateway?.execute({ type: 'key.reveal', id });
        if (revealed) await clipboard.writeText(revealed.secret);
      }),
    openWindow: () => showWindow(),
    togglePanel: ports.togglePanel,
    showRequest: (id) => showWindow(`/requests/${encodeURIComponent(id)}`),
    setStartAtLogin: (isOn) =>
      void attempt(async () => {
        loginItem.set(isOn);
        onChange();
      }),
    checkForUpdates: () => void updater.check(),
    installUpdate: () => void ports.installUpdate(),
    showLogFolder: ports.showLogFolder,
    quit: () => app.quit(),
  };
}

/** The demo provider is not part of the configuration; a setting switches it. */
function switchCommand({ id, isDemo }: TrayProvider, isOn: boolean): CommandInput {
  if (isDemo) return { type: 'settings.update', changes: { demo: isOn ? 'on' : 'off' } };
  return { type: 'provider.set-enabled', id, enabled: isOn };
}

/** Shows errors in a dialog, since a menu and a notification cannot show them. */
export async function runOrShowError(
  action: () => Promise<unknown>,
  { language, onFailure }: Pick<TrayActionPorts, 'language' | 'onFailure'>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    onFailure();
    await dialog.showMessageBox({ type: 'warning', message: describeError(error, language.messages) });
  }
}

function describeError(error: unknown, { controlProblems, commandFailed }: ShellMessages): string {
  if (error instanceof GatewayError && error.problem) return formatMessage(controlProblems, error.problem);
  return commandFailed(error instanceof Error ? error.message : String(error));
}
