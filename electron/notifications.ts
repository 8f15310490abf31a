/**
 * Desktop notifications, shown once each time a problem begins. Each kind can be switched off. Their buttons open a screen,
 * or stop the session that they tell of; nothing else is changed from here.
 */

import { Notification } from 'electron';
import type { ConfigViews, ControlEvent } from '../server/contract/events.ts';
import { type NotificationKind, notificationKinds, type UpdateView } from '../server/contract/ipc.ts';
import { nameOfClient } from '../server/contract/known-clients.ts';
import type { LimitReached } from '../server/contract/limits.ts';
import { conditionFacts, conditionLine } from '../server/contract/provider-condition.ts';
import { isDown, type ProviderView } from '../server/contract/provider-views.ts';
import type { NotificationAct } from './messages.ts';
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
  /** The user clicked a notification, or a button that opens a screen; `path` is that screen. */
  open(path: string): void;
  /** The user asked to stop this session. */
  stopSession(id: string): void;
}

interface Notice {
  subject: string;
  detail?: string;
  /** The screen that a click opens, unless it is that of the kind. */
  path?: string;
  /** The first one is the one that macOS shows beside the notification; it lists the others. */
  buttons?: readonly { act: NotificationAct; run(): void }[];
}

export function createNotifications({ settings, language, open, stopSession }: NotificationPorts): Notifications {
  const isOn = (kind: NotificationKind) => settings.current.notifications[kind] ?? true;
  const keepReachable = createKeeper();
  const show = (kind: NotificationKind, { subject, detail = '', path = screenPaths[kind], buttons = [] }: Notice) => {
    if (!isOn(kind) || !Notification.isSupported()) return;
    const { notifications, notificationActions } = language.messages;
    const texts = notifications[kind];
    const notification = new Notification({
      title: texts.title(subject),
      body: texts.body(detail),
      actions: buttons.map(({ act }) => ({ type: 'button', text: notificationActions[act] })),
    });
    notification.on('click', () => open(path));
    notification.on('action', ({ actionIndex }) => buttons[actionIndex]?.run());
    keepReachable(notification);
    notification.show();
  };
  const openButton = (path: string) => ({ act: 'open' as const, run: () => open(path) });
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
    onUpdate: ({ state, version }) => state === 'ready' && show('update-ready', { subject: version ?? '' }),
    onEvent(event) {
      const { messages } = language;
      if (event.type === 'limit-reached') {
        const { name, percent, budget } = event.notice;
        const detail = messages.budgetReached(percent, describeAmount(budget, language));
        const path = pathOf(event.notice);
        const raise = { act: 'raise-limit' as const, run: () => open(withField(path, budget)) };
        show('budget-reached', { subject: name, detail, path, buttons: [raise, openButton(path)] });
      }
      if (event.type === 'session-budget-reached') {
        const { sessionId, client, amount, usedUsd } = event.notice;
        const subject = messages.session(client ? nameOfClient(client) : messages.unknownClient);
        const detail = messages.sessionBudgetReached[amount](`$${usedUsd.toFixed(2)}`);
        const path = `/sessions/${encodeURIComponent(sessionId)}`;
        const stop = { act: 'stop' as const, run: () => stopSession(sessionId) };
        const buttons = [...(amount === 'notify' ? [stop] : []), openButton(path)];
        show('budget-reached', { subject, detail, path, buttons });
      }
      const nowMs = Date.now();
      for (const provider of providersOf(event)) {
        const { id, name } = provider;
        const path = `/providers/${encodeURIComponent(id)}`;
        const notice = { subject: name, path, buttons: [openButton(path)] };
        if (isNewProblem(id, isDown(provider, nowMs)))
          show('provider-unusable', {
            ...notice,
            detail: conditionLine(conditionFacts(provider, nowMs), messages.health),
          });
        for (const credential of provider.credentials) {
          const isRefused = credential.health.state === 'refused';
          if (isNewRefusal(`${id}/${credential.id}`, isRefused)) show('credential-refused', notice);
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

/** The key's form, or the group's screen. */
function pathOf({ scope, id }: LimitReached): string {
  const name = encodeURIComponent(id);
  return scope === 'key' ? `/keys?key=${name}` : `/groups/${name}`;
}

/** The same screen, with the focus in the field of this budget, which it leaves as it is. */
function withField(path: string, { unit, per }: LimitReached['budget']): string {
  return `${path}${path.includes('?') ? '&' : '?'}budget=${unit}-${per}`;
}

/** Electron does not report the clicks of a notification that was collected as garbage (electron#16922). */
function createKeeper(): (notification: Notification) => void {
  const kept: Notification[] = [];
  return (notification) => {
    kept.push(notification);
    if (kept.length > mostKept) kept.shift();
  };
}

/** More than a person leaves unread. */
const mostKept = 50;

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
