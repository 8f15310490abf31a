/** What listeners to the control plane are told of configuration, health, limits and the ledger. */
import type { Logger } from 'pino';
import type { Config } from '../contract/config.ts';
import type { ControlEvent } from '../contract/events.ts';
import { mostTold } from '../contract/find.ts';
import type { RefusalView } from '../contract/request-views.ts';
import type { LedgerHealthView } from '../contract/status-views.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HealthBook } from '../routing/health/health-book.ts';
import { createEventHub } from './event-hub.ts';
import { createHealthTeller } from './health-teller.ts';
import type { ConfigInForce, LiveConfig } from './live-config.ts';
import { keyCounts, type Views } from './views.ts';
import { watchLimitUse } from './watch-limit-use.ts';
import { watchValue } from './watch-value.ts';

interface EventPorts {
  ledger: Ledger;
  live: LiveConfig;
  health: HealthBook;
  log: Logger;
}

/** The number of latest requests in a snapshot. */
const shownRequests = 100;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The event hub, with the events of configuration and health. Nothing is computed while nobody listens. */
export function createControlEvents({ ledger, live, health, log }: EventPorts, views: Views) {
  const hub = createEventHub({
    log,
    async takeSnapshot() {
      const { requests } = await ledger.listRequests({ limit: shownRequests }).catch(() => ({ requests: [] }));
      return { type: 'snapshot', requests, ...views.all() };
    },
    whileHeard() {
      const stops = [
        watchValue({ everyMs: 2_000, read: () => ledger.health(), fingerprint: withoutPending }, (value) =>
          hub.tell({ type: 'ledger-health', ledger: value }),
        ),
        watchValue({ everyMs: 2_000, read: () => refusalsVersion(ledger) }, () =>
          hub.tell({ type: 'refusals', refusals: recentRefusals(ledger) }),
        ),
        watchLimitUse(views, (use) => hub.tell({ type: 'limit-use', ...use })),
      ];
      return () => {
        teller.stop();
        for (const stop of stops) stop();
      };
    },
  });
  const providerChanged = (id: string) => {
    if (!hub.isHeard) return;
    // A removed provider was reported with the configuration already.
    const provider = views.providers().find((each) => each.id === id);
    if (provider) hub.tell({ type: 'provider-changed', provider });
  };
  const teller = createHealthTeller(providerChanged);
  health.onChange((id, isState) => {
    if (hub.isHeard) teller.changed(id, isState);
  });
  live.onChange((change) => {
    if (hub.isHeard) hub.tell(configChanged(change, views));
  });
  return { hub, providerChanged };
}

/** Contains only the lists that changed, but always the providers, whose state depends on more than their own entries. */
function configChanged({ before, after }: ConfigInForce, views: Views): ControlEvent {
  const isSame = (part: 'keys' | 'groups' | 'aliases') => haveSameEntries(before[part], after[part]);
  const isToldSame = (part: 'keys' | 'groups') =>
    haveSameEntries(before[part].slice(0, mostTold), after[part].slice(0, mostTold));
  const keysAreSame = isSame('keys');
  const groups = isToldSame('groups') ? { groupCount: after.groups.length } : views.toldGroups();
  return {
    type: 'config-changed',
    status: views.status(),
    providers: views.providers(),
    ...(!keysAreSame && (isToldSame('keys') ? { keyCount: after.keys.length } : views.toldKeys())),
    ...(!isSame('groups') && groups),
    ...(!keysAreSame && !('groups' in groups) && { groupKeyCounts: changedKeyCounts(before.keys, after.keys) }),
    ...(!isSame('aliases') && { aliases: views.aliases() }),
  };
}

/** By group, of those that have got or lost keys. */
function changedKeyCounts(before: Config['keys'], after: Config['keys']): Record<string, number> {
  const [old, now] = [keyCounts(before), keyCounts(after)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((id) => old.get(id) !== now.get(id));
  return Object.fromEntries(changed.map((id) => [id, now.get(id) ?? 0]));
}

/** Entries that a change has left alone are mostly the same objects, of which there may be very many. */
function haveSameEntries(before: readonly object[], after: readonly object[]): boolean {
  if (before.length !== after.length) return false;
  return before.every((entry, index) => {
    const now = after[index];
    return entry === now || JSON.stringify(entry) === JSON.stringify(now);
  });
}

function withoutPending({ pending: _, ...health }: LedgerHealthView): string {
  return JSON.stringify(health);
}

/** Those of the last hour. */
export function recentRefusals({ refusals }: Pick<Ledger, 'refusals'>): RefusalView[] {
  return refusals.since(Date.now() - hourMs);
}

/** Changes with each refusal, and every minute, when the oldest ones leave the last hour. */
function refusalsVersion({ refusals }: Pick<Ledger, 'refusals'>): string {
  return `${refusals.count} ${Math.floor(Date.now() / minuteMs)}`;
}
