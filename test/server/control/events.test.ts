import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { EventMessage } from '../../../server/contract/events.ts';
import { maxReported } from '../../../server/contract/find.ts';
import { createEventHub } from '../../../server/control/control-events.ts';
import { hashOf } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, gatherEvents, startControlGateway } from './control-gateway.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let sluice: ControlGateway;
beforeEach(async () => {
  upstream = await stopLater(startUpstream((_request, response) => json(response, { id: 'x', choices: [] })));
  sluice = await stopLater(
    startControlGateway({
      config: { providers: [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }] },
    }),
  );
});

const ask = () => sluice.client.chat.completions.create({ model: 'gpt-x', messages: [] });

describe('events', () => {
  test('begin with a snapshot of everything, with the latest requests', async () => {
    await ask();
    const events = gatherEvents(sluice.gateway);
    expect(await events.next('snapshot')).toMatchObject({
      status: { baseUrl: sluice.baseUrl, revision: 1 },
      providers: [{ id: 'main' }],
      keys: [{ id: 'k1' }],
      groups: [{ id: 'default', keyCount: 1 }],
      aliases: [],
      requests: [{ modelAsked: 'gpt-x', outcome: 'ok' }],
    });
    events.stop();
  });

  test('tell of each request twice, by numbers that rise by one', async () => {
    const events = gatherEvents(sluice.gateway);
    await events.next('snapshot');
    await ask();
    const { request } = await events.next('request-finished');
    expect(request).toMatchObject({ provider: 'main', outcome: 'ok', keyId: 'k1' });
    expect((await events.next('request-started')).request.id).toBe(request.id);
    expect(events.messages.map(({ event }) => event.type)).toEqual(['snapshot', 'request-started', 'request-finished']);
    expect(revisionSteps(events.messages)).toEqual([1, 1]);
    events.stop();
  });

  test('tell of a change once it is in force, with the lists that changed', async () => {
    const events = gatherEvents(sluice.gateway);
    await events.next('snapshot');
    await sluice.gateway.execute({ type: 'key.create', name: 'a' });
    const changed = await events.next('config-changed');
    expect(changed).toMatchObject({ status: { revision: 2 }, keys: [{ id: 'k1' }, { id: 'a' }] });
    expect(changed).toMatchObject({ keyCount: 2, groupKeyCounts: { default: 2 } });
    expect(changed).not.toHaveProperty('groups');
    expect(changed).not.toHaveProperty('aliases');
    await sluice.gateway.execute({ type: 'provider.set-enabled', id: 'main', enabled: false });
    const second = await events.next('config-changed', ({ status }) => status.revision === 3);
    expect(second.providers).toMatchObject([{ id: 'main', unusable: 'it is switched off' }]);
    expect(second).not.toHaveProperty('keys');
    events.stop();
  });

  test('tell of the first keys and groups and the number of all, where there are very many', async () => {
    const count = maxReported + 100;
    const [last, lastGroup] = [`key-${count - 1}`, `group-${count - 1}`];
    const keys = Array.from({ length: count }, (_, index) => ({
      ...{ id: `key-${index}`, group: `group-${index}`, hash: hashOf(`secret ${index}`) },
    }));
    const groups = keys.map(({ group }) => ({ id: group }));
    const { gateway } = await stopLater(startControlGateway({ config: { keys, groups } }));
    const events = gatherEvents(gateway);
    const snapshot = await events.next('snapshot');
    expect([snapshot.keys.length, snapshot.keyCount]).toEqual([maxReported, count]);
    expect([snapshot.groups.length, snapshot.groupCount]).toEqual([maxReported, count]);
    const changeOf = async (command: Parameters<typeof gateway.execute>[0]) => {
      const { revision } = (await gateway.execute(command)) as { revision: number };
      return events.next('config-changed', ({ status }) => status.revision === revision);
    };
    const revoked = await changeOf({ type: 'key.revoke', id: last });
    expect(revoked).toMatchObject({ keyCount: count - 1, groupKeyCounts: { [lastGroup]: 0 } });
    for (const list of ['keys', 'groups', 'groupCount']) expect(revoked).not.toHaveProperty(list);
    const removed = await changeOf({ type: 'group.remove', id: lastGroup });
    expect(removed).toMatchObject({ groupCount: count - 1 });
    for (const list of ['keys', 'groups', 'keyCount']) expect(removed).not.toHaveProperty(list);
    const renamed = await changeOf({ type: 'group.put', group: { id: 'group-0', name: 'First' } });
    expect(renamed.groups).toHaveLength(maxReported);
    expect(renamed.groups?.[0]).toMatchObject({ name: 'First', keyCount: 1 });
    const off = await changeOf({ type: 'key.update', id: 'key-0', changes: { enabled: false } });
    expect(off.keys).toHaveLength(maxReported);
    expect(off).not.toHaveProperty('groups');
    events.stop();
  });

  test('tell of requests without a valid key, together', async () => {
    const events = gatherEvents(sluice.gateway);
    expect((await events.next('snapshot')).refusals).toEqual([]);
    const headers = { authorization: 'Bearer wrong', 'user-agent': 'Tool/1.2' };
    for (let times = 0; times < 3; times++) await fetch(`${sluice.baseUrl}/models`, { headers });
    const told = await events.next('refusals', ({ refusals }) => refusals[0]?.requests === 3);
    expect(told.refusals).toMatchObject([{ reason: 'invalid_api_key', lastClient: 'Tool/1.2' }]);
    events.stop();
    const later = gatherEvents(sluice.gateway);
    expect((await later.next('snapshot')).refusals).toEqual(told.refusals);
    later.stop();
  });

  test('reach each listener from its own snapshot on, and none that has left', async () => {
    const first = gatherEvents(sluice.gateway);
    await first.next('snapshot');
    await sluice.gateway.execute({ type: 'key.create', name: 'a' });
    const second = gatherEvents(sluice.gateway);
    expect((await second.next('snapshot')).keys).toHaveLength(2);
    first.stop();
    const heard = first.messages.length;
    await sluice.gateway.execute({ type: 'key.create', name: 'b' });
    expect((await second.next('config-changed')).keys).toHaveLength(3);
    expect(first.messages).toHaveLength(heard);
    expect(revisionSteps(second.messages)).toEqual([1]);
    second.stop();
  });
});

function revisionSteps(messages: readonly EventMessage[]): number[] {
  return messages.slice(1).map(({ revision }, index) => revision - (messages[index]?.revision ?? 0));
}

describe('the event hub', () => {
  const health = (pending: number) =>
    ({
      type: 'ledger-health',
      ledger: { ok: true, pending, spooled: 0, dropped: 0, lastError: null, budgetsError: null, replaced: null },
    }) as const;
  const failed = vi.fn();
  const createHub = (takeSnapshot: () => Promise<ReturnType<typeof health>>, whileListening = () => () => {}) =>
    createEventHub({ takeSnapshot, whileListening, log: { error: failed } });

  test('keeps what is told while the snapshot is taken until after it', async () => {
    const snapshot = Promise.withResolvers<ReturnType<typeof health>>();
    const hub = createHub(() => snapshot.promise);
    const heard: EventMessage[] = [];
    const done = Promise.withResolvers<void>();
    hub.subscribe((message) => heard.push(message) === 3 && done.resolve());
    hub.emit(health(1));
    hub.emit(health(2));
    snapshot.resolve(health(0));
    await done.promise;
    expect(heard).toEqual([0, 1, 2].map((number) => ({ revision: number, event: health(number) })));
  });

  test('takes the snapshot again where it failed, and keeps nothing until then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const failure = Promise.withResolvers<ReturnType<typeof health>>();
      const takeSnapshot = vi.fn(async () => health(2)).mockReturnValueOnce(failure.promise);
      const hub = createHub(takeSnapshot);
      const heard: EventMessage[] = [];
      hub.subscribe((message) => heard.push(message));
      hub.emit(health(1));
      failure.reject(new Error('the database stands still'));
      await vi.advanceTimersByTimeAsync(0);
      hub.emit(health(2));
      await vi.advanceTimersByTimeAsync(5_000);
      hub.emit(health(3));
      expect(heard).toEqual([2, 3].map((number) => ({ revision: number, event: health(number) })));
    } finally {
      vi.useRealTimers();
    }
  });

  test('asks for no other snapshot where the one who wanted it has left', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const takeSnapshot = vi.fn(() => Promise.reject(new Error('the database stands still')));
      const stop = createHub(takeSnapshot).subscribe(() => {});
      await vi.advanceTimersByTimeAsync(0);
      stop();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(takeSnapshot).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('sends nothing to a listener that left before the snapshot was ready', async () => {
    const snapshot = Promise.withResolvers<ReturnType<typeof health>>();
    const hub = createHub(() => snapshot.promise);
    const listener = vi.fn();
    hub.subscribe(listener)();
    snapshot.resolve(health(0));
    await snapshot.promise;
    hub.emit(health(1));
    expect(listener).not.toHaveBeenCalled();
    expect(hub.hasListeners).toBe(false);
  });

  test('says when the first begins to listen and when the last has left', () => {
    const steps: string[] = [];
    const hub = createHub(
      async () => health(0),
      () => {
        steps.push('start');
        return () => steps.push('stop');
      },
    );
    const stops = [hub.subscribe(() => {}), hub.subscribe(() => {})];
    expect(steps).toEqual(['start']);
    for (const stop of [...stops, ...stops]) stop();
    expect(steps).toEqual(['start', 'stop']);
  });

  test('a listener that fails disturbs neither the others nor the event’s cause', async () => {
    const hub = createHub(async () => health(0));
    const begun = Promise.withResolvers<void>();
    const heard: number[] = [];
    hub.subscribe(() => {
      throw new Error('broken');
    });
    hub.subscribe(({ revision }) => {
      heard.push(revision);
      begun.resolve();
    });
    await begun.promise;
    hub.emit(health(1));
    expect(heard).toEqual([0, 1]);
    expect(failed).toHaveBeenCalled();
  });
});
