/** Desktop notifications, shown once each time a problem begins. Each kind can be switched off. */
import { Notification } from 'electron';
import type { ConfigViews, ControlEvent } from '../server/contract/events.ts';
import { type NotificationKind, notificationKinds, type UpdateView } from '../server/contract/ipc.ts';
import { blockOf } from '../server/contract/provider-block.ts';
import { isDown } from '../server/contract/provider-down.ts';
import type { ProviderView } from '../server/contract/provider-views.ts';
import type { ShellMessages } from './messages.ts';
import type { DesktopSettingsStore } from './settings-store.ts';
import type { ShellLanguage } from './shell-language.ts';
import { describeAmount } from './tray-group.ts';

export interface Notifications {
  readonly settings: Record<NotificationKind, boolean>;
  set(kind: NotificationKind, isOn: boolean): void;
  onEvent(event: ControlEvent): void;
  onUpdate(update: UpdateView): void;
}

interface NotificationPorts {
  settings: Pick<DesktopSettingsStore, 'current' | 'update'>;
  language: ShellLanguage;
  /** The user clicked a notification; `path` is the screen to open. */
  onClick(path: string): void;
}

export function createNotifications({ settings, language, onClick }: NotificationPorts): Notifications {
  const isOn = (kind: NotificationKind) => settings.current.notifications[kind] ?? true;
  const show = (kind: NotificationKind, subject: string, detail = '', path = screenPaths[kind]) => {
    if (!isOn(kind) || !Notification.isSupported()) return;
    const texts = language.messages.notifications[kind];
    const notification = new Notification({ title: texts.title(subject), body: texts.body(detail) });
    notification.on('click', () => onClick(path));
    notification.show();
  };
  const isNewProblem = createOnsetDetector();
  const isNewRefusal = createOnsetDetector();
  return {
    get settings() {
      return Object.fromEntries(notificationKinds.map((kind) => [kind, isOn(kind)])) as Record<
        NotificationKind,
        boolean
      >;
    },
    set: (kind, isOn) => settings.update({ notifications: { ...settings.current.notifications, [kind]: isOn } }),
    onUpdate: ({ state, version }) => state === 'ready' && show('update-ready', version ?? ''),
    onEvent(event) {
      const { messages } = language;
      if (event.type === 'limit-reached') {
        const { name, percent, budget } = event.notice;
        show('budget-reached', name, messages.budgetReached(percent, describeAmount(budget, language)));
      }
      if (event.type === 'session-budget-reached') {
        const { sessionId, client, amount, usedUsd } = event.notice;
        const subject = messages.session(client?.split(' ', 1)[0] ?? messages.unknownClient);
        const detail = messages.sessionBudgetReached[amount](`$${usedUsd.toFixed(2)}`);
        show('budget-reached', subject, detail, `/sessions/${sessionId}`);
      }
      for (const provider of providersOf(event)) {
        const { id, name } = provider;
        const problem = describeProblem(provider, messages);
        if (isNewProblem(id, isDown(provider, Date.now()))) show('provider-unusable', name, problem);
        for (const credential of provider.credentials) {
          const isRefused = credential.health.state === 'refused';
          if (isNewRefusal(`${id}/${credential.id}`, isRefused)) show('credential-refused', name);
        }
      }
    },
  };
}

/** The screen that a click opens. */
const screenPaths: Record<NotificationKind, string> = {
  'provider-unusable': '/providers',
  'credential-refused': '/providers',
  'budget-reached': '/keys',
  'update-ready': '/settings',
};

function describeProblem(provider: ProviderView, { blocked, failures }: ShellMessages): string {
  const { failure } = provider.health;
  const block = blockOf(provider);
  if (block) return blocked[block];
  return failure === null ? '' : failures[failure];
}

/**
 * Detects conditions that begin: returns true when a condition that was known to be false becomes true. Conditions that
 * already hold when they are first seen, such as at startup, are not reported.
 */
function createOnsetDetector(): (id: string, isActive: boolean | null) => boolean {
  const lastStates = new Map<string, boolean>();
  return (id, isActive) => {
    const hasBegun = isActive === true && lastStates.get(id) === false;
    if (isActive !== null) lastStates.set(id, isActive);
    return hasBegun;
  };
}

function providersOf(event: ControlEvent): readonly ProviderView[] {
  if (event.type === 'provider-changed') return [event.provider];
  return configOf(event).providers ?? [];
}

function configOf(event: ControlEvent): Partial<ConfigViews> {
  return event.type === 'snapshot' || event.type === 'config-changed' ? event : {};
}
