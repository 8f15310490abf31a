/** What the system tells a person without being asked, once for each time that it comes about. Each kind can be turned off. */
import { Notification } from 'electron';
import type { ControlEvent } from '../server/contract/events.ts';
import { type NotificationKind, notificationKinds, type UpdateView } from '../server/contract/ipc.ts';
import type { ProviderView } from '../server/contract/views.ts';
import type { ShellMessages } from './messages.ts';
import type { DesktopSettingsStore } from './settings-store.ts';

export interface Notifications {
  readonly settings: Record<NotificationKind, boolean>;
  set(kind: NotificationKind, isOn: boolean): void;
  onEvent(event: ControlEvent): void;
  onUpdate(update: UpdateView): void;
}

export interface NotificationPorts {
  settings: DesktopSettingsStore;
  messages: ShellMessages;
  /** The person clicked on one. */
  clicked(path: string): void;
}

export function createNotifications({ settings, messages, clicked }: NotificationPorts): Notifications {
  const isOn = (kind: NotificationKind) => settings.current.notifications[kind] ?? true;
  const show = (kind: NotificationKind, subject: string, detail = '') => {
    if (!isOn(kind) || !Notification.isSupported()) return;
    const texts = messages.notifications[kind];
    const notification = new Notification({ title: texts.title(subject), body: texts.body(detail) });
    notification.on('click', () => clicked(kind === 'update-ready' ? '/' : '/providers'));
    notification.show();
  };
  const problems = createProblemWatch();
  const refusals = new Set<string>();
  return {
    get settings() {
      return Object.fromEntries(notificationKinds.map((kind) => [kind, isOn(kind)])) as Record<
        NotificationKind,
        boolean
      >;
    },
    set: (kind, on) => settings.update({ notifications: { ...settings.current.notifications, [kind]: on } }),
    onUpdate: ({ state, version }) => state === 'ready' && show('update-ready', version ?? ''),
    onEvent(event) {
      for (const { name, unusable } of problems(event)) show('provider-unusable', name, unusable ?? '');
      if (event.type === 'config-changed') refusals.clear();
      if (event.type !== 'request-finished') return;
      for (const { provider, credential, failure } of event.request.attempts) {
        const refusal = `${provider}/${credential}`;
        if (failure !== 'credential' || refusals.has(refusal)) continue;
        refusals.add(refusal);
        show('credential-refused', provider);
      }
    },
  };
}

/** Which providers have become unusable with an event, though they are on. What is so at a start is no news. */
function createProblemWatch(): (event: ControlEvent) => ProviderView[] {
  const known = new Map<string, boolean>();
  return (event) => {
    const providers = providersOf(event);
    const isProblem = ({ enabled, unusable }: ProviderView) => enabled && unusable !== null;
    const fresh = providers.filter((each) => isProblem(each) && known.get(each.id) === false);
    for (const each of providers) known.set(each.id, isProblem(each));
    return fresh;
  };
}

function providersOf(event: ControlEvent): readonly ProviderView[] {
  if (event.type === 'provider-changed') return [event.provider];
  return event.type === 'snapshot' || event.type === 'config-changed' ? (event.providers ?? []) : [];
}
