/** The events of the control plane about configuration, health, limits and the ledger. */

import type { Logger } from 'pino';
import type { Config } from '../contract/config.ts';
import type { ControlEvent } from '../contract/events.ts';
import { maxReported } from '../contract/find.ts';
import type { RefusalView } from '../contract/request-views.ts';
import type { LedgerHealthView } from '../contract/status-views.ts';
import { hourMs, minuteMs } from '../contract/units.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import { createEventHub } from './event-hub.ts';
import { createHealthEvents } from './health-events.ts';
import type { ConfigInForce, LiveConfig } from './live/live-config.ts';
import { keyCounts, type Views } from './views/views.ts';
import { watchLimitUse } from './watch-limit-use.ts';
import { watchValue } from './watch-value.ts';

interface EventPorts {
  ledger: Ledger;
  live: LiveConfig;
  health: HealthTracker;
  log: Logger;
}

/** The number of latest requests in a snapshot. */
const shownRequests = 100;

/** Creates the event hub, with the events of configuration and health. Nothing is computed without a listener. */
export function createControlEvents({ ledger, live, health, log }: EventPorts, views: Views) {
  const hub = createEventHub({
    log,
    async takeSnapshot() {
      const { requests } = await ledger.listRequests({ limit: shownRequests }).catch(() => ({ requests: [] }));
      return { type: 'snapshot', requests, ...views.all() };
    },
    whileListening() {
      const stops = [
        watchValue({ everyMs: 2_000, read: () => ledger.health(), fingerprint: withoutCounts }, (value) =>
          hub.emit({ type: 'ledger-health', ledger: value }),
        ),
        watchValue({ everyMs: 2_000, read: () => refusalsVersion(ledger) }, () =>
          hub.emit({ type: 'refusals', refusals: recentRefusals(ledger) }),
        ),
        watchLimitUse(views, (use) => hub.emit({ type: 'limit-use', ...use })),
      ];
      return () => {
        healthEvents.stop();
        for (const stop of stops) stop();
      };
    },
  });
  const providerChanged = (id: string) => {
    if (!hub.hasListeners) return;
    // The removal of a provider was already reported with the configuration.
    const provider = views.providers().find((each) => each.id === id);
    if (provider) hub.emit({ type: 'provider-changed', provider });
  };
  const healthEvents = createHealthEvents(providerChanged);
  health.onChange((id, isState) => {
    if (hub.hasListeners) healthEvents.changed(id, isState);
  });
  live.onChange((change) => {
    if (hub.hasListeners) hub.emit(configChanged(change, views));
  });
  return { hub, providerChanged };
}

/**
 * Contains only the lists that changed, but always the providers, whose state depends on more than their own entries.
 */
function configChanged({ before, after }: ConfigInForce, views: Views): ControlEvent {
  const isSame = (part: 'keys' | 'groups' | 'aliases') => haveSameEntries(before[part], after[part]);
  const isToldSame = (part: 'keys' | 'groups') =>
    haveSameEntries(before[part].slice(0, maxReported), after[part].slice(0, maxReported));
  const keysAreSame = isSame('keys');
  const groups = isToldSame('groups') ? { groupCount: after.groups.length } : views.reportedGroups();
  return {
    type: 'config-changed',
    status: views.status(),
    providers: views.providers(),
    ...(!keysAreSame && (isToldSame('keys') ? { keyCount: after.keys.length } : views.reportedKeys())),
    ...(!isSame('groups') && groups),
    ...(!keysAreSame && !('groups' in groups) && { groupKeyCounts: changedKeyCounts(before.keys, after.keys) }),
    ...(!isSame('aliases') && { aliases: views.aliases() }),
  };
}

/** By group, for groups that gained or lost keys. */
function changedKeyCounts(before: Config['keys'], after: Config['keys']): Record<string, number> {
  const [old, now] = [keyCounts(before), keyCounts(after)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((id) => old.get(id) !== now.get(id));
  return Object.fromEntries(changed.map((id) => [id, now.get(id) ?? 0]));
}

/** Compares by identity first: unchanged entries are mostly the same objects, and there may be very many. */
function haveSameEntries(before: readonly object[], after: readonly object[]): boolean {
  if (before.length !== after.length) return false;
  return before.every((entry, index) => {
    const now = after[index];
    return entry === now || JSON.stringify(entry) === JSON.stringify(now);
  });
}

/** Without what changes all the time. */
function withoutCounts({ pending: _, capturedBytes: _bytes, ...health }: LedgerHealthView): string {
  return JSON.stringify(health);
}

/** Refusals of the last hour. */
export function recentRefusals({ refusals }: Pick<Ledger, 'refusals'>): RefusalView[] {
  return refusals.since(Date.now() - hourMs);
}

/** Changes with each refusal, and every minute, because refusals leave the last hour. */
function refusalsVersion({ refusals }: Pick<Ledger, 'refusals'>): string {
  return `${refusals.count} ${Math.floor(Date.now() / minuteMs)}`;
}
