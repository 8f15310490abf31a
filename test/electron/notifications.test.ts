import { beforeEach, describe, expect, it, vi } from 'vitest';
import { messagesFor } from '../../electron/messages.ts';
import { createNotifications } from '../../electron/notifications.ts';
import type { DesktopSettings } from '../../electron/settings-store.ts';
import type { AttemptRecord } from '../../server/contract/ledger.ts';
import type { ProviderView } from '../../server/contract/views.ts';
import { finishedRow } from '../server/ledger/records.ts';
import { shown } from './double/system.ts';

vi.mock('electron', () => import('./double/electron.ts'));

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
  current = { notifications: {}, places: {} };
  shown.notifications.length = 0;
});

function create() {
  return createNotifications({ settings, messages: messagesFor('en'), clicked: () => {} });
}

const provider: ProviderView = {
  ...{ id: 'main', name: 'Main', preset: null, isDemo: false, dialect: 'openai', baseUrl: 'http://127.0.0.1:1/v1' },
  ...{ enabled: true, credentials: [], headers: {}, models: [], proxy: 'system', apiVersion: null, askUsage: true },
  timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1 },
  ...{ unusable: null, modelNames: [], takesAnyModel: false, discovery: null },
};
const troubled: ProviderView = { ...provider, unusable: 'It has no credential.' };

describe('notifications', () => {
  it('tell once that a provider became unusable, and again after it was not', () => {
    const notifications = create();
    const hear = (each: ProviderView) => notifications.onEvent({ type: 'provider-changed', provider: each });
    for (const each of [provider, troubled, troubled, provider, troubled]) hear(each);
    const told = { title: 'Main cannot be used', body: 'It has no credential.' };
    expect(shown.notifications).toEqual([told, told]);
  });

  it('tell nothing of one that was so from the start, or is switched off', () => {
    const notifications = create();
    notifications.onEvent({ type: 'provider-changed', provider: troubled });
    notifications.onEvent({ type: 'provider-changed', provider });
    notifications.onEvent({ type: 'provider-changed', provider: { ...troubled, enabled: false } });
    expect(shown.notifications).toEqual([]);
  });

  it('tell once that a credential was refused', () => {
    const notifications = create();
    const request = { ...finishedRow('req_1'), attempts: [refusedAttempt, refusedAttempt] };
    notifications.onEvent({ type: 'request-finished', request });
    notifications.onEvent({ type: 'request-finished', request });
    expect(shown.notifications).toEqual([{ title: 'main refuses a credential', body: 'Enter a new one in Sluice.' }]);
  });

  it('tell that an update is ready, unless that kind is turned off', () => {
    const notifications = create();
    const ready = { state: 'ready', version: '2.0.0', notes: null, problem: null } as const;
    notifications.onUpdate({ ...ready, state: 'downloading' });
    notifications.onUpdate(ready);
    notifications.set('update-ready', false);
    notifications.onUpdate(ready);
    expect(shown.notifications.map(({ title }) => title)).toEqual(['Sluice 2.0.0 is ready']);
    expect(notifications.settings).toEqual({
      ...{ 'provider-unusable': true, 'credential-refused': true, 'update-ready': false },
    });
  });
});

const refusedAttempt: AttemptRecord = {
  ...{ provider: 'main', credential: 'c1', model: 'gpt-x', startedAt: 1, connectMs: 1, firstByteMs: 1, totalMs: 1 },
  ...{ status: 401, failure: 'credential', error: 'no', upstreamRequestId: null },
};
