import { beforeEach, describe, expect, it, vi } from 'vitest';
import { messagesFor } from '../../electron/messages.ts';
import { createNotifications } from '../../electron/notifications.ts';
import type { DesktopSettings } from '../../electron/settings-store.ts';
import type { CooldownView, ProviderView } from '../../server/contract/provider-views.ts';
import { well, wellProvider } from '../support/stand-ins.ts';
import { NotificationDouble, shown } from './double/system.ts';

let current: DesktopSettings;
const settings = {
  get current() {
    return current;
  },
  update(changes: Partial<DesktopSettings>) {
    current = { ...current, ...changes };
  },
};

beforeEach(() => {
  current = { notifications: {}, language: null, hotkey: null, trayCost: false, places: {} };
  shown.notifications.length = 0;
  opened.length = 0;
  stopped.length = 0;
});

/** The addresses that clicks opened. */
const opened: string[] = [];
/** The sessions that were stopped. */
const stopped: string[] = [];

function create(locale = 'en') {
  const language = { messages: messagesFor(locale), locale };
  return createNotifications({
    settings,
    language,
    open: (path) => void opened.push(path),
    stopSession: (id) => void stopped.push(id),
  });
}

const provider: ProviderView = {
  ...{
    id: 'main',
    name: 'Main',
    preset: null,
    joined: false,
    isDemo: false,
    dialect: 'openai',
    baseUrl: 'http://127.0.0.1:1/v1',
  },
  ...{
    enabled: true,
    credentials: [],
    headers: {},
    models: [],
    proxy: 'system',
    certificate: null,
    apiVersion: null,
    contextTokens: null,
    free: null,
    isFree: false,
    askUsage: true,
    serves: null,
  },
  timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1 },
  health: wellProvider,
  ...{ unusable: null, modelNames: [], takesAnyModel: false, discovery: null },
};
const troubled: ProviderView = { ...provider, unusable: 'It has no credential.' };

describe('notifications', () => {
  it('report once that a provider became unusable, and again after it had recovered', () => {
    const notifications = create();
    const hear = (each: ProviderView) => notifications.onEvent({ type: 'provider-changed', provider: each });
    for (const each of [provider, troubled, troubled, provider, troubled]) hear(each);
    const told = {
      title: 'Main cannot be used',
      body: 'Not usable: its base URL leads back to Sluice itself',
      buttons: ['Open'],
    };
    expect(shown.notifications).toEqual([told, told]);
  });

  it('report nothing about one that was unusable from the start, or is switched off', () => {
    const notifications = create();
    notifications.onEvent({ type: 'provider-changed', provider: troubled });
    notifications.onEvent({ type: 'provider-changed', provider });
    notifications.onEvent({ type: 'provider-changed', provider: { ...troubled, enabled: false } });
    expect(shown.notifications).toEqual([]);
  });

  it('report once that a credential was refused, and again after it had recovered', () => {
    const notifications = create();
    const credential = { id: 'c1', label: null, reference: 'keychain', enabled: true, hasSecret: true, health: well };
    const refused: CooldownView = { ...well, state: 'refused', failure: 'credential', failedWith: 401 };
    const hear = (health: CooldownView) => {
      const changed = { ...provider, credentials: [{ ...credential, health }] };
      notifications.onEvent({ type: 'provider-changed', provider: changed });
    };
    for (const health of [well, refused, refused, well, refused]) hear(health);
    const told = { title: 'Main rejected a credential', body: 'Enter a new one in Sluice.', buttons: ['Open'] };
    expect(shown.notifications).toEqual([told, told]);
  });

  it('report that a provider is down once a trial has failed too, and only once until it answers again', () => {
    vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
    const notifications = create();
    const hear = (coolingMs: number | null) => {
      const until = coolingMs === null ? null : Date.now() + coolingMs;
      const failed = { state: 'cooling', failure: 'transient', failedWith: 'refused' } as const;
      const cooling = { ...wellProvider, ...failed, until };
      const health = coolingMs === null ? wellProvider : cooling;
      notifications.onEvent({ type: 'provider-changed', provider: { ...provider, health } });
    };
    for (const coolingMs of [null, 1_000, null, 1_000]) hear(coolingMs);
    expect(shown.notifications).toEqual([]);
    for (const coolingMs of [2_000, 0, 4_000]) hear(coolingMs);
    const told = { title: 'Main cannot be used', body: 'Cannot be reached: connection refused', buttons: ['Open'] };
    expect(shown.notifications).toEqual([told]);
    for (const coolingMs of [null, 20_000]) hear(coolingMs);
    expect(shown.notifications).toEqual([told, told]);
    vi.useRealTimers();
  });

  it('report that an update is ready, unless that kind is turned off', () => {
    const notifications = create();
    const ready = { state: 'ready', version: '2.0.0', notes: null, percent: null, problem: null } as const;
    notifications.onUpdate({ ...ready, state: 'downloading' });
    notifications.onUpdate(ready);
    notifications.set('update-ready', false);
    notifications.onUpdate(ready);
    expect(shown.notifications.map(({ title }) => title)).toEqual(['Sluice 2.0.0 is ready']);
    expect(notifications.settings).toEqual({
      ...{ 'provider-unusable': true, 'credential-refused': true, 'update-ready': false },
      'budget-reached': true,
    });
  });

  it('report that a budget is nearly spent and that it is spent, unless turned off', () => {
    const notifications = create();
    const budget = { unit: 'usd', amount: 5_000, per: 'day', hard: true } as const;
    const notice = { scope: 'key', id: 'k1', name: 'My app', budget, used: 4_000, resetsAt: null } as const;
    notifications.onEvent({ type: 'limit-reached', notice: { ...notice, percent: 80 } });
    notifications.set('budget-reached', false);
    notifications.onEvent({ type: 'limit-reached', notice: { ...notice, percent: 100 } });
    expect(shown.notifications).toEqual([
      { title: 'Budget of My app', body: '80% of $5,000 used.', buttons: ['Raise limit…', 'Open'] },
    ]);
  });

  it('report what a session has cost, whether it was stopped, and link to it', () => {
    const notifications = create();
    const session = { sessionId: 'ses_1', keyId: 'k1', client: 'claude-cli/2.1.197 (external, cli)', amountUsd: 5 };
    const hear = (amount: 'notify' | 'stop', usedUsd: number) =>
      notifications.onEvent({ type: 'session-budget-reached', notice: { ...session, amount, usedUsd } });
    hear('notify', 5.019);
    hear('stop', 10);
    NotificationDouble.latest?.emit('click');
    const title = 'Budget of a session of Claude Code';
    expect(shown.notifications).toEqual([
      { title, body: 'It has cost $5.02.', buttons: ['Stop', 'Open'] },
      { title, body: 'It has cost $10.00 and was stopped. You can resume it in Sluice.', buttons: ['Open'] },
    ]);
    expect(opened).toEqual(['/sessions/ses_1']);
  });

  it('lead to the screen that they are about, when they are clicked', () => {
    const notifications = create();
    const click = () => NotificationDouble.latest?.emit('click');
    for (const each of [provider, troubled]) notifications.onEvent({ type: 'provider-changed', provider: each });
    click();
    const budget = { unit: 'usd', amount: 5, per: 'day', hard: true } as const;
    const notice = { scope: 'key', id: 'k1', name: 'My app', budget, used: 4, resetsAt: null, percent: 80 } as const;
    notifications.onEvent({ type: 'limit-reached', notice });
    click();
    notifications.onUpdate({ state: 'ready', version: '2.0.0', notes: null, percent: null, problem: null });
    click();
    expect(opened).toEqual(['/providers/main', '/keys?key=k1', '/settings']);
  });

  it('have buttons that show where a limit is raised, without raising it, and that stop a session', () => {
    const notifications = create();
    const press = (actionIndex: number) =>
      NotificationDouble.latest?.emit('action', { actionIndex, selectionIndex: -1 });
    const budget = { unit: 'usd', amount: 5, per: 'day', hard: true } as const;
    const notice = { id: 'a b', name: 'My app', budget, used: 4, resetsAt: null, percent: 80 } as const;
    for (const scope of ['key', 'group'] as const) {
      notifications.onEvent({ type: 'limit-reached', notice: { ...notice, scope } });
      press(0);
      press(1);
    }
    expect(opened.splice(0)).toEqual([
      ...['/keys?key=a%20b&budget=usd-day', '/keys?key=a%20b'],
      ...['/groups/a%20b?budget=usd-day', '/groups/a%20b'],
    ]);
    const session = { sessionId: 'ses_1', keyId: 'k1', client: null, amountUsd: 5, usedUsd: 5 };
    notifications.onEvent({ type: 'session-budget-reached', notice: { ...session, amount: 'notify' } });
    press(0);
    expect(stopped).toEqual(['ses_1']);
    press(1);
    expect(opened).toEqual(['/sessions/ses_1']);
    // A button that Windows lists and Sluice does not know.
    press(7);
    expect(opened).toHaveLength(1);
  });

  it('speak the language of the window throughout', () => {
    const notifications = create('zh-CN');
    for (const each of [provider, troubled]) notifications.onEvent({ type: 'provider-changed', provider: each });
    const budget = { unit: 'tokens', amount: 500, per: 'day', hard: true } as const;
    const notice = { scope: 'key', id: 'k1', name: 'App', budget, used: 400, resetsAt: null, percent: 80 } as const;
    notifications.onEvent({ type: 'limit-reached', notice });
    expect(shown.notifications).toEqual([
      { title: 'Main 无法使用', body: '不可用：其 Base URL 指回 Sluice 自身', buttons: ['打开'] },
      { title: 'App 的预算', body: '500 个 token 已使用 80%。', buttons: ['提高限额…', '打开'] },
    ]);
  });
});
